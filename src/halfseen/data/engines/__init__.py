"""Engines: where rows are stored, and how sums over them are computed."""
