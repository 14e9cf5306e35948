"""Loadings behind a row, which add up to the rates of its counts: topics."""
