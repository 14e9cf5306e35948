"""Rows with gaps wherever they live, and sums over blocks of them."""
