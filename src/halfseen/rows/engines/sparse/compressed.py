"""Compressed rows, as their three arrays."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array


class Compressed(NamedTuple):
    """The stored entries of row n are at ``starts[n]`` to ``starts[n + 1]``."""

    starts: NDArray[np.integer]  # (n + 1,)
    features: NDArray[np.integer]  # (stored,)
    values: NDArray[np.floating]  # (stored,)

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """The arrays of a SciPy CSR matrix, not copied."""
        return cls(matrix.indptr, matrix.indices, matrix.data)

    def nothing(self) -> Self:
        """As many rows, with nothing stored."""
        return type(self)(np.zeros_like(self.starts), self.features[:0], self.values[:0])

    def rows(self, start: int, stop: int) -> Self:
        """Some of the rows; copies nothing but where they start."""
        starts = self.starts[start : stop + 1]
        inside = slice(starts[0], starts[-1])
        return type(self)(starts - starts[0], self.features[inside], self.values[inside])

    def taken(self, chosen: NDArray[np.intp]) -> Self:
        """The ``chosen`` rows, in that order."""
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        places = np.repeat(self.starts[chosen], lengths) + within
        return type(self)(starts, self.features[places], self.values[places])

    def where(self, chosen: NDArray[np.bool_]) -> Self:
        """Only the stored entries that are ``chosen`` (stored,)."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        return type(self)(before[self.starts], self.features[chosen], self.values[chosen])

    @property
    def row_numbers(self) -> NDArray[np.intp]:
        """The row of each stored entry; (stored,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def dense(self, n_features: int) -> Array:
        """All entries, zero where none is stored; (n, d)."""
        table = np.zeros((len(self.starts) - 1, n_features))
        table[self.row_numbers, self.features] = self.values
        return table
