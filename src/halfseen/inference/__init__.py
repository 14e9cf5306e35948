"""The method: weights, whitening, decomposition, regression, likelihood."""
