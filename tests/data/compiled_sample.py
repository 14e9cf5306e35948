"""A compiled function in a file of its own, as caches want it."""

from halfseen.data.compiled import njit


@njit(cache=True)
def doubled(x):
    """Twice as much."""
    return 2 * x
