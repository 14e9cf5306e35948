"""An order of a table's columns that is their own: by what they hold, wherever they stand."""

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array

DIGITS = 9
"""That sums of the same numbers have in common, in whatever order they are added."""


def own_order(table: Array) -> NDArray[np.intp]:
    """The columns of a table (n, d) with NaN in the gaps, in an order that is theirs; (d,).

    By their ends or, where some have them in common, by all their values and the rows in which they
    hold them. The order of the rows does not matter, nor how often they are there.

    >>> own_order(np.array([[3.0, 1.0, 2.0], [4.0, 1.0, 0.0]])).tolist()
    [2, 1, 0]
    """
    ends = np.array([np.fmin.reduce(table, axis=0), np.fmax.reduce(table, axis=0)])
    order = np.lexsort(ends[::-1])
    in_order = ends[:, order]
    alike = (in_order[:, 1:] == in_order[:, :-1]) | np.isnan(in_order[:, 1:])
    return _by_all_values(table) if alike.all(axis=0).any() else order


def _by_all_values(table: Array) -> NDArray[np.intp]:
    different = np.unique(np.where(np.isnan(table), np.inf, table), axis=0)
    known = np.where(np.isinf(different), 0.0, different)
    size = np.abs(known).max(axis=0, initial=0.0)
    known = known / np.where(size > 0, size, 1.0)
    rows = np.round(known.sum(axis=1), DIGITS)
    beside = np.round(np.array([known.T @ rows, known.T @ rows**2]), DIGITS)
    return np.lexsort(np.vstack([np.sort(different, axis=0), beside])[::-1])
