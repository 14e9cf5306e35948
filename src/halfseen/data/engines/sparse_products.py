"""Products of sparse rows with thin matrices, in one pass over stored cells.

SciPy multiplies one matrix with one other. The kernels here do what it does not: each feature has a
part, given by its label, and each part its own vectors. All add to ``out`` and release the
interpreter, so that blocks of rows run on threads. Indices are read as unsigned numbers: others
might count from the end, and looking whether they do takes a fifth of the time.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.products import Parts

Indices = NDArray[np.integer]
Values = NDArray[np.floating]
Labels = NDArray[np.intp]
Flags = NDArray[np.bool_]


Stored = tuple[Indices, Indices, Values]
"""Where rows start, and the feature and the value of each stored entry."""


def arrays_of(matrix: csr_array) -> Stored:
    """The arrays of a sparse matrix, for compiled functions."""
    return matrix.indptr, matrix.indices, matrix.data


def with_data(matrix: csr_array, data: Values) -> csr_array:
    """The same sparsity pattern with other values (stored,)."""
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def where(matrix: csr_array, chosen: Flags) -> csr_array:
    """Only the ``chosen`` stored entries (stored,); stored zeros are kept."""
    starts = np.concatenate([[0], np.cumsum(chosen)])[matrix.indptr]
    return csr_array((matrix.data[chosen], matrix.indices[chosen], starts), shape=matrix.shape)


def rows_between(matrix: csr_array, start: int, stop: int) -> csr_array:
    """A range of rows without a copy of their entries, unlike SciPy's slices."""
    starts = matrix.indptr[start : stop + 1]
    own = slice(starts[0], starts[-1])
    parts = (matrix.data[own], matrix.indices[own], starts - starts[0])
    return csr_array(parts, shape=(len(starts) - 1, matrix.shape[1]))


def row_numbers(matrix: csr_array) -> NDArray[np.intp]:
    """The row of each stored entry; (stored,)."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


@dataclass(frozen=True, eq=False)
class SparseEntries:
    """``E_ni = u_i + v_ni`` where observed, v being sparse, and 0 in the gaps."""

    level: Array  # (d,)             u, what an observed zero holds
    stored: Stored  # (n, d)         v
    gaps: Stored  # (n, d)           one where an entry of an observed block is missing
    column_block: NDArray[np.intp]  # (d,)  the block of each feature
    row_observed: Mask  # (n, b)     which blocks each row has

    def onto(self, basis: Array) -> Array:
        one_part = Parts(np.zeros(len(self.level), dtype=np.intp), 1)
        whole: Array = self.onto_parts(basis, one_part)[0]
        return whole

    def onto_parts(self, basis: Array, parts: Parts) -> Array:
        basis = np.ascontiguousarray(basis)
        out: Array = np.matmul(self.row_observed.astype(float), self._shared(basis, parts))
        _onto(*self.stored, basis, parts.labels, out)
        if len(self.gaps[1]):
            _onto(*self.gaps, -self.level[:, None] * basis, parts.labels, out)
        return out

    def back(self, per_row: Array) -> Array:
        out = self._level_times(self.level, per_row)
        _add_back(self.stored, per_row, out)
        return out

    def there_and_back(self, basis: Array, parts: Parts, mix: Array, weights: Array) -> Array:
        """``Σ_h R_gh E_g' Ω E_h B_h`` for each part g; (d, m)."""
        basis = np.ascontiguousarray(basis)
        out = np.zeros(basis.shape)
        _there_and_back(
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
        return self._powers(2, per_row, features)

    def cubes(self, per_row: Array, features: Mask) -> Array:
        return self._powers(3, per_row[:, None], features)[:, 0]

    def _shared(self, basis: Array, parts: Parts) -> Array:
        """Sums of ``u_i B_i`` over the features of each part and block; (p, b, m)."""
        out = np.zeros((parts.n, self.row_observed.shape[1], basis.shape[1]))
        _shared(self.level, basis, parts.labels, self.column_block, out)
        return out

    def _powers(self, power: int, per_row: Array, features: Mask) -> Array:
        out = np.zeros((len(self.level), per_row.shape[1]))
        if not features.any():
            return out
        out += self._level_times(self.level**power, per_row)
        starts, indices, values = self.stored
        level = self.level[indices]
        _add_back((starts, indices, (level + values) ** power - level**power), per_row, out)
        out[~features] = 0.0
        return out

    def _level_times(self, level: Array, per_row: Array) -> Array:
        """``Σ_n u_i Y_n`` over the rows in which each feature is observed; (d, m)."""
        sums = self.row_observed.T.astype(float) @ per_row  # (b, m)
        out: Array = sums[self.column_block]
        out *= level[:, None]
        starts, features, _ = self.gaps
        _add_back((starts, features, -level[features]), per_row, out)
        return out


def _add_back(entries: Stored, per_row: Array, out: Array) -> None:
    """Add ``E' Y`` of stored entries."""
    if len(entries[1]):
        _back(*entries, np.ascontiguousarray(per_row), out)


@njit(cache=True, nogil=True)
def _onto(
    starts: Indices, features: Indices, values: Values, basis: Array, labels: Labels, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``x_ni B_i`` to ``out[label_i, n]`` for a basis (d, m) and out (p, n, m)."""
    m = basis.shape[1]
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            feature, value = np.uint32(features[entry]), values[entry]
            part = np.uint32(labels[feature])
            for c in range(m):
                out[part, row, c] += value * basis[feature, c]


@njit(cache=True, nogil=True)
def _shared(
    level: Array, basis: Array, labels: Labels, column_block: Labels, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``u_i B_i`` to ``out[label_i, block_i]`` for a basis (d, m) and out (p, b, m)."""
    for i in range(len(level)):
        for c in range(basis.shape[1]):
            out[labels[i], column_block[i], c] += level[i] * basis[i, c]


# SciPy's product takes as long for large blocks, and far longer to begin with for small ones.
@njit(cache=True, nogil=True)
def _back(
    starts: Indices, features: Indices, values: Values, per_row: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``x_ni Y_n`` to ``out[i]`` for vectors Y (n, m); out (d, m)."""
    m = per_row.shape[1]
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            feature, value = np.uint32(features[entry]), values[entry]
            for c in range(m):
                out[feature, c] += value * per_row[row, c]


@njit(cache=True, nogil=True)
def _there_and_back(
    starts: Indices,
    features: Indices,
    values: Values,
    gap_starts: Indices,
    gap_features: Indices,
    level: Array,  # (d,)  what an observed zero holds
    basis: Array,  # (d, m)
    labels: Labels,  # (d,)
    mix: Array,  # (p, p)
    weights: Array,  # (n,)
    row_observed: Flags,  # (n, b)
    column_block: Labels,  # (d,)
    out: Array,  # (d, m)  added to
) -> None:  # pragma: no cover - compiled
    """Products of each row with the basis, mixed between parts, and back."""
    n_parts, n_blocks, m = len(mix), row_observed.shape[1], basis.shape[1]
    meets = np.zeros((n_parts, n_blocks), dtype=np.bool_)
    shared, sums = np.zeros((n_parts, n_blocks, m)), np.zeros((n_parts, n_blocks, m))
    for i in range(len(level)):
        meets[labels[i], column_block[i]] = True
        for c in range(m):
            shared[labels[i], column_block[i], c] += level[i] * basis[i, c]
    of_part, of_block = np.nonzero(meets)  # pairs that have features in common
    onto, mixed = np.empty((n_parts, m)), np.empty((n_parts, m))
    held = np.empty(n_parts, dtype=np.bool_)
    for row in range(len(starts) - 1):
        onto[:] = 0.0
        held[:] = False
        for pair in range(len(of_part)):
            mine, block = of_part[pair], of_block[pair]
            if row_observed[row, block]:
                held[mine] = True
                for c in range(m):
                    onto[mine, c] += shared[mine, block, c]
        for entry in range(starts[row], starts[row + 1]):
            feature, value = np.uint32(features[entry]), values[entry]
            part = np.uint32(labels[feature])
            for c in range(m):
                onto[part, c] += value * basis[feature, c]
        for entry in range(gap_starts[row], gap_starts[row + 1]):
            feature = np.uint32(gap_features[entry])
            part = np.uint32(labels[feature])
            for c in range(m):
                onto[part, c] -= level[feature] * basis[feature, c]
        mixed[:] = 0.0
        for one in range(n_parts):
            for other in range(n_parts):
                if held[one] and held[other]:
                    share = weights[row] * mix[one, other]
                    for c in range(m):
                        mixed[one, c] += share * onto[other, c]
        for pair in range(len(of_part)):
            mine, block = of_part[pair], of_block[pair]
            if row_observed[row, block]:
                for c in range(m):
                    sums[mine, block, c] += mixed[mine, c]
        for entry in range(starts[row], starts[row + 1]):
            feature, value = np.uint32(features[entry]), values[entry]
            part = np.uint32(labels[feature])
            for c in range(m):
                out[feature, c] += value * mixed[part, c]
        for entry in range(gap_starts[row], gap_starts[row + 1]):
            feature = np.uint32(gap_features[entry])
            part = np.uint32(labels[feature])
            for c in range(m):
                out[feature, c] -= level[feature] * mixed[part, c]
    for i in range(len(level)):
        for c in range(m):
            out[i, c] += level[i] * sums[labels[i], column_block[i], c]


@njit(cache=True, nogil=True)
def ranges(
    features: Indices, values: Values, n_features: int
) -> tuple[Array, Array, Labels, Flags]:  # pragma: no cover - compiled
    """Minimum, maximum and number of entries of each feature, and whether all are whole."""
    minimum, maximum = np.full(n_features, np.inf), np.full(n_features, -np.inf)
    number, whole = np.zeros(n_features, dtype=np.intp), np.ones(n_features, dtype=np.bool_)
    for entry in range(len(values)):
        feature, value = np.uint32(features[entry]), values[entry]
        minimum[feature] = min(minimum[feature], value)
        maximum[feature] = max(maximum[feature], value)
        number[feature] += 1
        if value != np.floor(value):
            whole[feature] = False
    return minimum, maximum, number, whole


@njit(cache=True, nogil=True)
def none_between(
    features: Indices, values: Values, minimum: Array, maximum: Array
) -> Flags:  # pragma: no cover - compiled
    """Whether no value lies strictly between ``minimum`` and ``maximum`` of each feature; (d,)."""
    none = np.ones(len(minimum), dtype=np.bool_)
    for entry in range(len(values)):
        feature, value = np.uint32(features[entry]), values[entry]
        if minimum[feature] < value < maximum[feature]:
            none[feature] = False
    return none
