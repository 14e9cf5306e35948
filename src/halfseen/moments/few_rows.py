"""How many rows are few."""

FEW_ROWS = 30
"""Below this many rows a mean or a covariance over them says next to nothing."""
