"""Filling gaps: mixtures say what groups of rows there are, regressions on top fill best."""
