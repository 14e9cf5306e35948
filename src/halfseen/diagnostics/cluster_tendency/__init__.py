"""Whether rows form groups or one cloud: mixtures against single flexible densities."""
