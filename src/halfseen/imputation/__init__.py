"""Imputation by mixtures and regressions."""
