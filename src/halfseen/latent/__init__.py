"""Latent structures: one class a row, a chain of states, loadings on topics."""
