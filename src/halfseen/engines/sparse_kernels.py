"""Products of sparse rows with thin matrices, in one pass over what is stored.

Rows are compressed: the entries of row n are at ``starts[n]`` to ``starts[n + 1]``. Each feature
has a part, given by its label, and each part its own vectors. All add to ``out`` and release the
interpreter, so that blocks of rows run on threads.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from halfseen.core.arrays import Array

Indices = NDArray[np.integer]
Values = NDArray[np.floating]
Labels = NDArray[np.intp]


@njit(cache=True, nogil=True)
def onto(
    starts: Indices, features: Indices, values: Values, basis: Array, labels: Labels, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``x_ni B_i`` to ``out[n, label_i]`` for a basis (d, m) and out (n, p, m)."""
    m = basis.shape[1]
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            feature, value = features[entry], values[entry]
            part = labels[feature]
            for c in range(m):
                out[row, part, c] += value * basis[feature, c]


@njit(cache=True, nogil=True)
def back(
    starts: Indices, features: Indices, values: Values, per_row: Array, labels: Labels, out: Array
) -> None:  # pragma: no cover - compiled
    """Add ``x_ni Y_n`` to ``out[i]``, with the Y of the feature's part, (n, p, m); out (d, m)."""
    m = per_row.shape[2]
    for row in range(len(starts) - 1):
        for entry in range(starts[row], starts[row + 1]):
            feature, value = features[entry], values[entry]
            part = labels[feature]
            for c in range(m):
                out[feature, c] += value * per_row[row, part, c]
