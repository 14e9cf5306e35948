"""Topics from estimates of them, which noise may have made impossible."""

import numpy as np

from halfseen.rows.arrays import Array

NONE = 1e-9
"""Of the share that a feature has in all counts: as good as no share in a topic."""


def positive(scaled: Array, mean: Array) -> Array:
    """Multiples of topics in columns (d, k), with no share below zero.

    Noise can leave a feature with no share in any topic, though it is counted: it is given an even
    one by its mean (d,), or its counts would be impossible. What rounding leaves of none is none.
    """
    scaled = np.maximum(scaled, 0.0)
    even = np.outer(mean / mean.sum(), scaled.sum(axis=0))
    lost = (scaled <= NONE * even).all(axis=1)
    scaled[lost] = even[lost]
    return scaled


def as_topics(scaled: Array, mean: Array) -> Array:
    """The same as topics: columns of sum one; one of nothing is like the mean."""
    scaled = positive(scaled, mean)
    empty = ~scaled.any(axis=0)
    scaled[:, empty] = mean[:, None]
    topics: Array = scaled / scaled.sum(axis=0)
    return topics
