"""Moments of product mixtures: columns of any kind that are independent given the class."""
