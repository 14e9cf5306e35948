"""Moments of a table with gaps: survey, pairs, triples."""
