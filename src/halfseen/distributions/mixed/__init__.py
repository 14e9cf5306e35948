"""Columns of several kinds, independent of each other given the component."""
