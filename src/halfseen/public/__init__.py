"""Functions of the public surface that take any model."""
