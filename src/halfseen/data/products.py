"""Matrix products with a block of rows, dense or sparse."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit


class Parts(NamedTuple):
    """A partition of the features into ``n`` parts."""

    labels: NDArray[np.intp]  # (d,)
    n: int

    @property
    def members(self) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(self.labels == part) for part in range(self.n)]


class Entries(Protocol):
    """The entries of a block as a matrix E (n, d), zero in the gaps."""

    def onto(self, basis: Array) -> Array:
        """``E B`` for a basis (d, m); (n, m)."""

    def onto_parts(self, basis: Array, parts: Parts) -> Array:
        """``E B`` of each part of the features by itself; (p, n, m)."""

    def back(self, per_row: Array) -> Array:
        """``E' Y`` for vectors Y (n, m), one a row; (d, m)."""

    def there_and_back(self, basis: Array, parts: Parts, mix: Array, weights: Array) -> Array:
        """``Σ_h R_gh E_g' Ω E_h B_h`` for each part g; (d, m).

        ``mix`` R (p, p) says how much products of two parts count, ``weights`` Ω (n,) how often
        rows do.
        """

    def squares(self, per_row: Array, features: Mask) -> Array:
        """``Σ_n E_ni² Y_n`` for some of the features, zero for the others; (d, m)."""

    def cubes(self, per_row: Array, features: Mask) -> Array:
        """``Σ_n E_ni³ y_n`` for some of the features, zero for the others; (d,)."""


@dataclass(frozen=True, eq=False)
class DenseEntries:
    """Entries stored as a dense array."""

    array: Array  # (n, d)  best feature by feature in memory, as products with it then are

    def onto(self, basis: Array) -> Array:
        return (basis.T @ self.array.T).T

    def onto_parts(self, basis: Array, parts: Parts) -> Array:
        if parts.n == 1:
            return self.onto(basis)[None]
        projected = np.empty((parts.n, len(self.array), basis.shape[1]))
        for part, features in enumerate(parts.members):
            projected[part] = self.array[:, features] @ basis[features]
        return projected

    def back(self, per_row: Array) -> Array:
        return self.array.T @ per_row

    def there_and_back(self, basis: Array, parts: Parts, mix: Array, weights: Array) -> Array:
        """``Σ_h R_gh E_g' Ω E_h B_h`` for each part g; (d, m)."""
        mixed = np.tensordot(mix, self.onto_parts(basis, parts), axes=1) * weights[:, None]
        gathered = np.empty(basis.shape)
        for part, features in enumerate(parts.members):
            gathered[features] = self.array[:, features].T @ mixed[part]
        return gathered

    def squares(self, per_row: Array, features: Mask) -> Array:
        return self._powers(2, per_row, features)

    def cubes(self, per_row: Array, features: Mask) -> Array:
        return self._powers(3, per_row[:, None], features)[:, 0]

    def _powers(self, power: int, per_row: Array, features: Mask) -> Array:
        out = np.zeros((self.array.shape[1], per_row.shape[1]))
        columns, vectors = np.ascontiguousarray(self.array.T), np.ascontiguousarray(per_row.T)
        _add_powers(columns, np.flatnonzero(features), power, vectors, out)
        return out


# Sums of a feature may be taken in any order, so that several are added up at a time.
@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _add_powers(
    columns: Array, features: NDArray[np.intp], power: int, vectors: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``x_in² y_cn``, or with the cube, to ``out[i, c]`` for columns (d, n), vectors (m, n)."""
    for i in features:
        for c in range(len(vectors)):
            total = 0.0
            for row in range(columns.shape[1]):
                x = columns[i, row]
                total += x * x * (x if power == 3 else 1.0) * vectors[c, row]
            out[i, c] += total


upper_pairs = cache(np.triu_indices)
"""The indices i ≤ j of a symmetric matrix of the given size."""


def products_of_pairs(left: Array, right: Array) -> Array:
    """``l_i r_j`` for i ≤ j, in the order of :func:`upper_pairs`, of rows (n, m); (n, m (m+1)/2).

    It lies product by product in memory.
    """
    n, m = left.shape
    out = np.empty((m * (m + 1) // 2, n))
    _products_of_pairs(np.ascontiguousarray(left.T), np.ascontiguousarray(right.T), out)
    return out.T


@njit(cache=True, nogil=True)
def _products_of_pairs(
    left: Array, right: Array, out: Array
) -> None:  # pragma: no cover - compiled
    place = 0
    for i in range(len(left)):
        for j in range(i, len(left)):
            for row in range(left.shape[1]):
                out[place, row] = left[i, row] * right[j, row]
            place += 1
