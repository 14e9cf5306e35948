"""Products of sparse rows with thin matrices, in one pass over what is stored.

Rows are compressed: the entries of row n are at ``starts[n]`` to ``starts[n + 1]``. Each feature
has a part, given by its label, and each part its own vectors. All add to ``out`` and release the
interpreter, so that blocks of rows run on threads. Indices are read as unsigned numbers: others
might count from the end, and looking whether they do takes a fifth of the time.
"""

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit

Indices = NDArray[np.integer]
Values = NDArray[np.floating]
Labels = NDArray[np.intp]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def onto(
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
def shared(
    level: Array, basis: Array, labels: Labels, column_block: Labels, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``u_i B_i`` to ``out[label_i, block_i]`` for a basis (d, m) and out (p, b, m)."""
    for i in range(len(level)):
        for c in range(basis.shape[1]):
            out[labels[i], column_block[i], c] += level[i] * basis[i, c]


@njit(cache=True, nogil=True)
def back(
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
def there_and_back(
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
    """A row's products with the basis, mixed between parts, and back while the row is at hand."""
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
def select(
    starts: Indices, features: Indices, values: Values, place: Labels
) -> tuple[Indices, Indices, Values]:  # pragma: no cover - compiled
    """Only the entries whose feature has a place, with that for its number; others have -1."""
    new_starts = np.empty_like(starts)
    new_features, new_values = np.empty_like(features), np.empty_like(values)
    new_starts[0] = 0
    kept = 0
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            new = place[features[entry]]
            if new >= 0:
                new_features[kept] = new
                new_values[kept] = values[entry]
                kept += 1
        new_starts[row + 1] = kept
    return new_starts, new_features[:kept], new_values[:kept]


@njit(cache=True, nogil=True)
def in_missing_blocks(
    starts: Indices, features: Indices, column_block: Labels, row_observed: Flags
) -> Flags:  # pragma: no cover - compiled
    """Whether each entry is in a block of columns that its row does not have; (stored,)."""
    missing = np.empty(len(features), dtype=np.bool_)
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            missing[entry] = not row_observed[row, column_block[features[entry]]]
    return missing


@njit(cache=True, nogil=True)
def ranges(
    features: Indices, values: Values, n_features: int
) -> tuple[Array, Array, Labels, Flags]:  # pragma: no cover - compiled
    """The least and largest of each feature, how many there are, and whether all are whole."""
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
    """Whether nothing of each feature is strictly between its ``minimum`` and ``maximum``; (d,)."""
    none = np.ones(len(minimum), dtype=np.bool_)
    for entry in range(len(values)):
        feature, value = np.uint32(features[entry]), values[entry]
        if minimum[feature] < value < maximum[feature]:
            none[feature] = False
    return none
