"""The counts above zero of a block: all that kernels for topics have to visit.

An observed zero matters only through the rates of the features that were observed, which add up to
one number a row and topic, the exposure.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array

Indices = NDArray[np.int64]


class Nonzeros(NamedTuple):
    """Compressed rows: those of row n are at ``starts[n]`` to ``starts[n + 1]``."""

    starts: Indices  # (n + 1,)
    features: Indices  # (nnz,)
    counts: Array  # (nnz,)

    @classmethod
    def of(cls, values: Array) -> Self:
        """The values (n, d) above zero."""
        present = values > 0
        starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        return cls(starts, np.nonzero(present)[1], values[present])

    @property
    def rows(self) -> Indices:
        """The row of each count; (nnz,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def totals(self) -> Array:
        """``Σ x`` of each row; (n,)."""
        return self.row_sums(self.counts)

    def row_sums(self, values: Array) -> Array:
        """Sums of values (nnz,), one for each count, over each row; (n,)."""
        n_rows = len(self.starts) - 1
        sums: Array = np.bincount(self.rows, weights=values, minlength=n_rows).astype(float)
        return sums

    def largest(self) -> Array:
        """The largest count of each row; (n,)."""
        most = np.zeros(len(self.starts) - 1)
        np.maximum.at(most, self.rows, self.counts)
        return most
