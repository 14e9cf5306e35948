"""Distributions of columns given the component of a row, and covariance structures."""
