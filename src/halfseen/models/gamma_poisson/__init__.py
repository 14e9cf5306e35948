"""Gamma-Poisson topics."""
