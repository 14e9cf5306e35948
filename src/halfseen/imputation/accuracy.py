"""Accuracy of imputation by column, measured on gaps like those of the table.

Known cells are hidden together as they are missing in other rows, and filled in again by what was
learned from the rows of other folds.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.missing_patterns import FEWEST_CELLS, ImitatedGaps, measurable, missing_with

TESTS_A_COLUMN, MOST_TESTS = 1000, 6000
"""Rows that are filled again: the standard error of R² is .03 for 1,000 of them, and 6,000 take a
small part of the time that learning takes."""
MOST_CELLS = 1_000_000
"""Of those rows, so that the features of all of them fit in memory."""


def number_of_tests(known: Mask) -> int:
    """The number of test rows for a table (n, d)."""
    n_columns = int(measurable(known).sum())
    in_memory = max(MOST_CELLS // int(known.shape[1]), 1)
    return min(TESTS_A_COLUMN * n_columns, MOST_TESTS, in_memory)


class Refilled(NamedTuple):
    """True values of hidden cells, and their fills; (t, d) each."""

    true: Array
    filled: Array
    surprise: Array  # -log of the probability of what is true, in columns of levels


@dataclass(frozen=True, eq=False)
class FillAccuracy:
    """The accuracy of fills of each column; NaN where it was not measured."""

    explained: Array  # (d,)  share of variance, or of log-loss of levels, from 0 to 1
    variance: Array  # (d,)   R² of fills of numbers; below 0 if their mean would be nearer
    right: Array  # (d,)      share of fills of categories that are right
    commonest: Array  # (d,)  the same if the commonest category were filled in everywhere
    n_cells: NDArray[np.intp]  # (d,)  known cells that were hidden
    missing_with: tuple[NDArray[np.intp], ...]  # (d,)  columns that are mostly missing beside it

    @classmethod
    def of(
        cls, known: Mask, tests: ImitatedGaps, found: Refilled, numbers: Mask, levels: Mask
    ) -> "FillAccuracy":
        """Accuracy from tests of a table with ``known`` cells (n, d).

        Fills of ``numbers`` (d,) are judged by R², others by how many are right; what is explained
        of columns of ``levels`` (d,) is log-loss. Of columns that are neither nothing is said.
        """
        d = known.shape[1]
        explained, variance, right, commonest = np.full((4, d), np.nan)
        n_cells = tests.n_cells
        tested = measurable(known) & (n_cells >= FEWEST_CELLS) & (numbers | levels)
        for j in np.flatnonzero(tested):
            own = tests.hidden[:, j]
            weight = tests.weight[own] / tests.weight[own].sum()
            true, filled = found.true[own, j], found.filled[own, j]
            if numbers[j]:
                variance[j] = r_squared(true, filled, weight)
            else:
                right[j], commonest[j] = weight @ (true == filled), _shares(true, weight).max()
            explained[j] = variance[j]
            if levels[j]:
                explained[j] = _uncertainty(true, found.surprise[own, j], weight)
        beside = tuple(
            missing_with(known, j) if tested[j] else np.empty(0, dtype=np.intp) for j in range(d)
        )
        n_tested = np.where(tested, n_cells, 0)
        return cls(np.clip(explained, 0, 1), variance, right, commonest, n_tested, beside)


def r_squared(true: Array, filled: Array, weight: Array) -> float:
    """``1 - Σ w (x - f)² / Σ w (x - x̄)²``; 0 of values that are all alike."""
    around = float(weight @ (true - weight @ true) ** 2)
    return 1 - float(weight @ (true - filled) ** 2) / around if around > 0 else 0.0


def _shares(values: Array, weight: Array) -> Array:
    """The share of each value, by weight."""
    _, place = np.unique(values, return_inverse=True)
    return np.asarray(np.bincount(place.ravel(), weight), dtype=float)


def _uncertainty(true: Array, surprise: Array, weight: Array) -> float:
    """The relative reduction of log-loss against overall shares."""
    shares = _shares(true, weight)
    at_most = -float(shares @ np.log(shares))
    return 1 - float(weight @ surprise) / at_most if at_most > 1e-9 else 0.0
