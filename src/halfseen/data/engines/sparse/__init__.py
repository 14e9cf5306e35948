"""Rows of sparse counts, of which only what is stored is visited."""
