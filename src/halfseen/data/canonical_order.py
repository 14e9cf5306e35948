"""A canonical order of columns and rows, so that their given order does not matter.

Whatever is random in a fit is drawn for columns and rows in this order. What is learned is then the
same however columns and rows are sorted, in whatever units columns are, and whichever way they are
counted (temperature, or degrees below boiling).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array

DIGITS = 9
"""That sums of the same numbers have in common, in whatever order they are added."""


class CanonicalOrder(NamedTuple):
    """The canonical order of a table's columns, and a sign for each."""

    columns: NDArray[np.intp]  # (d,)
    signs: Array  # (d,)  of the columns in that order: minus one if more values are high than low

    def sortable(self, table: Array) -> Array:
        """The table (n, d) in canonical order and signs, with infinity in the gaps."""
        values = table[:, self.columns] * self.signs
        return np.where(np.isnan(values), np.inf, values)


def canonical_order(table: Array) -> CanonicalOrder:
    """The canonical order of a table (n, d) with NaN in the gaps.

    By how the different values of each column lie between its ends or, where columns have that in
    common, by all their values and the rows in which they hold them. The order of the rows does not
    matter, nor how often they are there.

    >>> canonical_order(np.array([[3.0, 1.0, 2.0], [4.0, 1.5, 0.0], [3.2, 1.1, 0.4]])).columns
    array([2, 0, 1])
    """
    within: Array = np.empty(table.shape)
    lies, signs = np.empty((2, table.shape[1])), np.ones(table.shape[1])
    for j, column in enumerate(table.T):
        known = column[~np.isnan(column)]
        low, high = known.min(initial=np.inf), known.max(initial=-np.inf)
        within[:, j] = (column - low) / (high - low) if high > low else column * 0.0
        different = np.unique(np.round(within[:, j], DIGITS))
        different = different[~np.isnan(different)]
        if len(different) and np.round(different.mean(), DIGITS) > 0.5:
            within[:, j], different, signs[j] = 1 - within[:, j], 1 - different[::-1], -1.0
        ends = different if len(different) else np.array([np.inf])
        lies[:, j] = np.round([ends.mean(), np.square(ends).mean()], DIGITS)
    order = np.lexsort(lies[::-1])
    in_order = lies[:, order]
    alike = (in_order[:, 1:] == in_order[:, :-1]).all(axis=0).any()
    columns = _by_all_values(np.asarray(np.round(within, DIGITS)), lies) if alike else order
    return CanonicalOrder(columns, signs[columns])


def _by_all_values(within: Array, lies: Array) -> NDArray[np.intp]:
    """Order columns by all their values, scaled to [0, 1] (n, d), after the keys (2, d)."""
    different = np.unique(np.where(np.isnan(within), np.inf, within), axis=0)
    known = np.where(np.isinf(different), 0.0, different)
    rows = np.round(known.sum(axis=1), DIGITS)
    beside = np.round(np.array([known.T @ rows, known.T @ rows**2]), DIGITS)
    return np.lexsort(np.vstack([lies, np.sort(different, axis=0), beside])[::-1])
