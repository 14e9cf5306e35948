"""Where the gaps are: how often features are observed, alone and together."""
