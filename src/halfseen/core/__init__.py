"""The method itself: pure NumPy and SciPy on sums over blocks of rows."""
