"""Compressed rows, as their three arrays."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.sparse import kernels
from halfseen.data.products import Parts


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


@dataclass(frozen=True, eq=False)
class SparseEntries:
    """``E_ni = u_i + v_ni`` where observed, v being sparse, and 0 in the gaps."""

    level: Array  # (d,)             u, what an observed zero holds
    stored: Compressed  # (n, d)     v
    gaps: Compressed  # (n, d)       one where an entry of an observed block is missing
    column_block: NDArray[np.intp]  # (d,)  the block of each feature
    row_observed: Mask  # (n, b)     which blocks each row has

    def onto(self, basis: Array) -> Array:
        """``E B`` for a basis (d, m); (n, m)."""
        whole: Array = self.onto_parts(basis, _one_part(len(self.level)))[0]
        return whole

    def onto_parts(self, basis: Array, parts: Parts) -> Array:
        """``E B`` of each part of the features by itself; (p, n, m)."""
        basis = np.ascontiguousarray(basis)
        out: Array = np.matmul(self.row_observed.astype(float), self._shared(basis, parts))
        kernels.onto(*self.stored, basis, parts.labels, out)
        if len(self.gaps.features):
            kernels.onto(*self.gaps, -self.level[:, None] * basis, parts.labels, out)
        return out

    def back(self, per_row: Array) -> Array:
        """``E' Y`` for vectors Y (n, m), one a row; (d, m)."""
        out = self._level_times(self.level, per_row)
        _add_back(self.stored, per_row, out)
        return out

    def there_and_back(self, basis: Array, parts: Parts, mix: Array, weights: Array) -> Array:
        """``Σ_h R_gh E_g' Ω E_h B_h`` for each part g; (d, m)."""
        basis = np.ascontiguousarray(basis)
        out = np.zeros(basis.shape)
        kernels.there_and_back(
            *self.stored,
            *self.gaps[:2],
            self.level,
            basis,
            parts.labels,
            mix,
            weights,
            self.row_observed,
            self.column_block,
            out,
        )
        return out

    def squares(self, per_row: Array, features: Mask) -> Array:
        """``Σ_n E_ni² Y_n`` for some of the features, zero for the others; (d, m)."""
        return self._powers(2, per_row, features)

    def cubes(self, per_row: Array, features: Mask) -> Array:
        """``Σ_n E_ni³ y_n`` for some of the features, zero for the others; (d,)."""
        return self._powers(3, per_row[:, None], features)[:, 0]

    def _shared(self, basis: Array, parts: Parts) -> Array:
        """Sums of ``u_i B_i`` over the features of each part and block; (p, b, m)."""
        out = np.zeros((parts.n, self.row_observed.shape[1], basis.shape[1]))
        kernels.shared(self.level, basis, parts.labels, self.column_block, out)
        return out

    def _powers(self, power: int, per_row: Array, features: Mask) -> Array:
        out = np.zeros((len(self.level), per_row.shape[1]))
        if not features.any():
            return out
        out += self._level_times(self.level**power, per_row)
        level = self.level[self.stored.features]
        more = (level + self.stored.values) ** power - level**power
        _add_back(self.stored._replace(values=more), per_row, out)
        out[~features] = 0.0
        return out

    def _level_times(self, level: Array, per_row: Array) -> Array:
        """``Σ_n u_i Y_n`` over the rows in which each feature is observed; (d, m)."""
        sums = self.row_observed.T.astype(float) @ per_row  # (b, m)
        out: Array = sums[self.column_block]
        out *= level[:, None]
        _add_back(self.gaps._replace(values=-level[self.gaps.features]), per_row, out)
        return out


def _add_back(entries: Compressed, per_row: Array, out: Array) -> None:
    """Add ``E' Y`` of stored entries; without any, vectors Y (n, m) need not be copied in order."""
    if len(entries.values):
        kernels.back(*entries, np.ascontiguousarray(per_row), out)


def _one_part(n_features: int) -> Parts:
    return Parts(np.zeros(n_features, dtype=np.intp), 1)
