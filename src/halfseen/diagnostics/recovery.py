"""Match components of two fits, and measure how well they agree.

>>> from halfseen import recovery
>>> float(recovery.total_angle([[0.0, 2.0], [3.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]))
0.0
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from halfseen.data.arrays import Array, Labels


def match(learned: ArrayLike, true: ArrayLike) -> Labels:
    """The learned component of each true one, minimising the sum of angles; (k,).

    Components are the rows of ``learned`` and ``true``, both (k, d).
    """
    _, order = linear_sum_assignment(_all_angles(np.asarray(true), np.asarray(learned)))
    return np.asarray(order, dtype=np.int64)


def nearest(ours: Array, theirs: Array) -> Labels:
    """The matching component of each of ours, minimising squared distances."""
    apart = ((ours[:, None] - theirs[None]) ** 2).sum(axis=2)
    if not np.isfinite(apart).all():
        raise FloatingPointError("components are nowhere")
    return np.asarray(linear_sum_assignment(apart)[1], dtype=np.int64)


def angles(learned: ArrayLike, true: ArrayLike, features: ArrayLike | None = None) -> Array:
    """The angle in radians between each true component and its match; (k,).

    Over all features, or only those in ``features`` (a mask or indices).
    """
    learned, true = np.asarray(learned, float), np.asarray(true, float)
    if features is not None:
        learned, true = learned[:, np.asarray(features)], true[:, np.asarray(features)]
    between = _all_angles(true, learned)
    return between[np.arange(len(true)), match(learned, true)]


def total_angle(learned: ArrayLike, true: ArrayLike, features: ArrayLike | None = None) -> float:
    """``ε_c``: the sum of the angles, over the complete features if they are given.

    Gottesman, Pan and Doshi-Velez print a sum of cosines but mean, and use, a sum of angles.
    """
    return float(angles(learned, true, features).sum())


def _all_angles(one: Array, other: Array) -> Array:
    """Angles between all rows of both, exact for small ones too; (k, k)."""
    one, other = _unit(one), _unit(other)
    apart = np.linalg.norm(one[:, None] - other[None], axis=2)
    together = np.linalg.norm(one[:, None] + other[None], axis=2)
    between: Array = 2 * np.arctan2(apart, together)
    return between


def _unit(rows: Array) -> Array:
    """Rows scaled to length one; rows of zeros stay zero."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Array = rows / np.where(lengths > 0, lengths, 1.0)
    return unit


def adjusted_rand(table: Array) -> float:
    """The adjusted Rand index from a contingency table (j, k).

    Of pairs of rows, those that both labellings put together, beyond what chance would: 1 if the
    labellings are the same, about 0 if they have nothing to do with each other. The table is a
    sum over rows, so labels need not be kept.

    References
    ----------
    L. Hubert, P. Arabie (1985), Comparing partitions.

    >>> import numpy as np
    >>> adjusted_rand(np.array([[0.0, 3.0], [2.0, 0.0]]))
    1.0
    """
    both, one, other, all_rows = (
        _pairs(counts) for counts in (table, table.sum(axis=1), table.sum(axis=0), table.sum())
    )
    by_chance = one * other / all_rows if all_rows > 0 else 0.0
    most = (one + other) / 2
    return 1.0 if most == by_chance else float((both - by_chance) / (most - by_chance))


def least_overlap(table: Array) -> float:
    """The smallest overlap of a component with its match.

    Of two labellings whose components are matched, from how many rows have which two labels (k, k):
    rows that two matched components share, of those that either has. A few components too many
    hardly show in the adjusted Rand index, which the others carry.

    References
    ----------
    C. Hennig (2007), Cluster-wise assessment of cluster stability: below one half a component is
    dissolved, from three quarters on it is found again.

    >>> import numpy as np
    >>> least_overlap(np.array([[0.0, 3.0], [2.0, 0.0]]))
    1.0
    """
    either = table.sum(axis=1)[:, None] + table.sum(axis=0) - table
    overlap = np.divide(table, either, out=np.zeros_like(table), where=either > 0)
    return float(overlap[linear_sum_assignment(-overlap)].min(initial=1.0))


def _pairs(counts: Array) -> float:
    return float(np.sum(counts * (counts - 1)) / 2)
