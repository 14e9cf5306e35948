"""What the observed part of a row says about its latent variables."""
