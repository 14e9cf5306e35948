"""Latent Dirichlet allocation: documents whose items are shared out among topics."""
