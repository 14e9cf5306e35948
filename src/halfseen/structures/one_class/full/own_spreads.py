"""The spreads that components have of their own beside correlations that they share."""

import math
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit
from halfseen.structures.one_class.full.kernel import cholesky

MOST_STEPS = 50
AT_REST = 1e-9
FAR = 0.2


def own_spreads(precisions: Any, shared: Array, start: Array) -> Array:
    """``s`` (k, d) that is highest in ``Σ log s - s'(P∘R)s/2``, by damped Newton steps."""
    found = np.array(start, dtype=float)
    _climbed(np.ascontiguousarray(precisions * shared), found)
    return found


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def _climbed(bends: Array, spreads: Array) -> None:  # pragma: no cover - compiled
    """Each component's, in place."""
    k, d = spreads.shape
    a, slope, step = np.empty((d, d)), np.empty(d), np.empty(d)
    for c in range(k):
        s, bend = spreads[c], bends[c]
        for _ in range(MOST_STEPS):
            for i in range(d):
                along = 0.0
                for j in range(d):
                    along += bend[i, j] * s[j]
                for j in range(i + 1):
                    a[i, j] = bend[i, j]
                slope[i] = 1 / s[i] - along
                a[i, i] += 1 / (s[i] * s[i])
            cholesky(a, d)
            for i in range(d):
                left = slope[i]
                for j in range(i):
                    left -= a[i, j] * step[j]
                step[i] = left / a[i, i]
            for i in range(d - 1, -1, -1):
                left = step[i]
                for j in range(i + 1, d):
                    left -= a[j, i] * step[j]
                step[i] = left / a[i, i]
            square = 0.0
            for i in range(d):
                square += slope[i] * step[i]
            size = math.sqrt(max(square, 0.0))
            # Self-concordant: such a step stays where logarithms are, and is whole in the end.
            shorter = 1 + size if size > FAR else 1.0
            for i in range(d):
                s[i] += step[i] / shorter
            if not size >= AT_REST:
                break
