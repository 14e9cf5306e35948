"""Products of sparse rows with thin matrices, in one pass over what is stored.

Rows are compressed: the entries of row n are at ``starts[n]`` to ``starts[n + 1]``. Each feature
has a part, given by its label, and each part its own vectors. All add to ``out`` and release the
interpreter, so that blocks of rows run on threads.
"""

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit

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
            feature, value = features[entry], values[entry]
            part = labels[feature]
            for c in range(m):
                out[part, row, c] += value * basis[feature, c]


@njit(cache=True, nogil=True)
def back(
    starts: Indices, features: Indices, values: Values, per_row: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``x_ni Y_n`` to ``out[i]`` for vectors Y (n, m); out (d, m)."""
    m = per_row.shape[1]
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            feature, value = features[entry], values[entry]
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
    shared: Array,  # (p, b, m)  levels times basis, summed over the features of a part and block
    sums: Array,  # (p, b, m)    added to: what each part sends back to the blocks of each row
    out: Array,  # (d, m)        added to
) -> None:  # pragma: no cover - compiled
    """A row's products with the basis, mixed between parts, and back while the row is at hand."""
    n_parts, n_blocks, m = shared.shape
    onto, mixed = np.empty((n_parts, m)), np.empty((n_parts, m))
    for row in range(len(starts) - 1):
        onto[:] = 0.0
        for block in range(n_blocks):
            if row_observed[row, block]:
                for part in range(n_parts):
                    for c in range(m):
                        onto[part, c] += shared[part, block, c]
        for entry in range(starts[row], starts[row + 1]):
            feature, value = features[entry], values[entry]
            part = labels[feature]
            for c in range(m):
                onto[part, c] += value * basis[feature, c]
        for entry in range(gap_starts[row], gap_starts[row + 1]):
            feature = gap_features[entry]
            part = labels[feature]
            for c in range(m):
                onto[part, c] -= level[feature] * basis[feature, c]
        mixed[:] = 0.0
        for part in range(n_parts):
            for other in range(n_parts):
                share = weights[row] * mix[part, other]
                for c in range(m):
                    mixed[part, c] += share * onto[other, c]
        for block in range(n_blocks):
            if row_observed[row, block]:
                for part in range(n_parts):
                    for c in range(m):
                        sums[part, block, c] += mixed[part, c]
        for entry in range(starts[row], starts[row + 1]):
            feature, value = features[entry], values[entry]
            part = labels[feature]
            for c in range(m):
                out[feature, c] += value * mixed[part, c]
        for entry in range(gap_starts[row], gap_starts[row + 1]):
            feature = gap_features[entry]
            part = labels[feature]
            for c in range(m):
                out[feature, c] -= level[feature] * mixed[part, c]


@njit(cache=True, nogil=True)
def select(
    starts: Indices, features: Indices, values: Values, place: Labels
) -> tuple[Indices, Indices, Values]:  # pragma: no cover - compiled
    """Only the entries whose feature has a place, with that for its number; others have -1."""
    new_starts = np.empty_like(starts)
    new_starts[0] = 0
    kept = 0
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            kept += place[features[entry]] >= 0
        new_starts[row + 1] = kept
    new_features = np.empty(kept, dtype=features.dtype)
    new_values = np.empty(kept, dtype=values.dtype)
    kept = 0
    for entry in range(starts[0], starts[-1]):
        if place[features[entry]] >= 0:
            new_features[kept] = place[features[entry]]
            new_values[kept] = values[entry]
            kept += 1
    return new_starts, new_features, new_values


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
