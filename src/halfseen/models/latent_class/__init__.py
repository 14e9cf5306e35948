"""Latent classes of mixed columns."""
