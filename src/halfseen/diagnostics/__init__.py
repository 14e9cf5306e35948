"""Diagnostics: the number of components, confidence intervals, tests of fit and concerns."""
