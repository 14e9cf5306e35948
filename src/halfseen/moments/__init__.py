"""Moments of tables with gaps: survey, pairs and triples of columns."""
