"""How far two ways of labelling the same rows agree, whatever the labels are called."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from halfseen.data.arrays import Array


def adjusted_rand(table: Array) -> float:
    """The adjusted Rand index of two labellings, from how many rows have which two labels (j, k).

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
    """How much of its rows the component that is found again least shares with its match.

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
    """How many pairs are within groups of so many."""
    return float(np.sum(counts * (counts - 1)) / 2)
