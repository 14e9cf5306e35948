"""Diagnostics: number of components, intervals, and concerns."""
