"""The non-zero counts of a block, for kernels of topic models.

An observed zero matters only through the rates of the features that were observed, which add up to
one number a row and topic, the exposure.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit

Indices = NDArray[np.int64]


class Nonzeros(NamedTuple):
    """Positive counts in compressed rows: row n holds ``starts[n]`` to ``starts[n + 1]``."""

    starts: Indices  # (n + 1,)
    features: Indices  # (nnz,)
    counts: Array  # (nnz,)

    @classmethod
    def of(cls, values: Array) -> Self:
        """The positive counts of ``values`` (n, d)."""
        present = values > 0
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        return cls(starts, np.nonzero(present)[1], values[present])

    def part(self, rows: slice) -> Self:
        """A range of rows, without a copy of their counts."""
        return self._replace(starts=self.starts[rows.start : rows.stop + 1])

    @property
    def rows(self) -> Indices:
        """The row of each count; (nnz,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def totals(self) -> Array:
        """``Σ x`` of each row; (n,)."""
        return self.row_sums(self.counts)

    def row_sums(self, values: Array) -> Array:
        """Sums of values (nnz,) over the counts of each row; (n,)."""
        n_rows = len(self.starts) - 1
        sums: Array = np.bincount(self.rows, weights=values, minlength=n_rows).astype(float)
        return sums

    def totals_but_largest(self) -> Array:
        """``Σ x`` of each row without its largest count; (n,)."""
        out = np.empty(len(self.starts) - 1)
        _totals_but_largest(self.starts, self.counts, out)
        return out


@njit(cache=True, nogil=True)
def _totals_but_largest(
    starts: Indices, counts: Array, out: Array
) -> None:  # pragma: no cover - compiled
    for row in range(len(out)):
        total, most = 0.0, 0.0
        for entry in range(starts[row], starts[row + 1]):
            total += counts[entry]
            most = max(most, counts[entry])
        out[row] = total - most


class RepeatedCells(NamedTuple):
    """Distinct values of features, and how many cells hold each."""

    feature: NDArray[np.intp]  # (m,)
    value: Array  # (m,)
    times: Array  # (m,)  above zero

    def where(self, chosen: Mask) -> "RepeatedCells":
        """Only the groups selected by a mask (m,)."""
        return RepeatedCells(self.feature[chosen], self.value[chosen], self.times[chosen])

    def summed(self, values: Array, n_features: int) -> Array:
        """Sums over cells of ``values`` (m,), by feature; (d,)."""
        sums: Array = np.bincount(self.feature, values * self.times, n_features).astype(float)
        return sums

    def lowest(self, values: Array, n_features: int) -> Array:
        """The lowest of ``values`` (m,) of each feature, +inf without cells; (d,)."""
        low = np.full(n_features, np.inf)
        np.minimum.at(low, self.feature, values)
        return low
