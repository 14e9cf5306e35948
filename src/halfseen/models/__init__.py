"""Latent-variable models as sums of rank-one terms in their second and third moments."""
