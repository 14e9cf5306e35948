"""Counts with a rate and a shape, from how often each count is there.

    log p(x) = log Γ(x+r) - log Γ(r) - log x! + r log(r/(r+μ)) + x log(μ/(r+μ))

Where the shape r is large that is Poisson's. The likeliest rate is the mean whatever the shape; the
likeliest shape is where ``Σ_x h_x (ψ(x+r) - ψ(r)) + N log(r/(r+μ))`` is zero.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit

LEAST_SHAPE, MOST_SHAPE = 0.02, 1e4
LEAST_RATE = 1e-6
HALVINGS = 30
"""Of the range of log shapes: to nine digits."""


def log_probabilities(n_values: int, rate: Array, shape: Array) -> Array:
    """Of counts from zero on, in each component; (v, k)."""
    x = np.arange(n_values, dtype=float)[:, None]
    own = gammaln(x + shape) - gammaln(shape) - gammaln(x + 1)
    found: Array = own - shape * np.log1p(rate / shape) + x * np.log(rate / (shape + rate))
    return found


def fitted(histogram: Array, before: Array) -> tuple[Array, Array]:
    """The likeliest rates and shapes (k,), from how often each count is there (k, v).

    Where nothing was counted the shape stays as it was ``before`` (k,).
    """
    total = histogram.sum(axis=1)
    rate = histogram @ np.arange(histogram.shape[1], dtype=float) / np.maximum(total, 1e-300)
    rate = np.maximum(rate, LEAST_RATE)
    tail = total[:, None] - np.cumsum(histogram, axis=1)  # Σ_{x > j} h_x
    shape = np.array(before)
    run: Any = _shapes
    run(np.maximum(tail, 0.0), total, rate, shape)
    return rate, shape


@njit(cache=True, nogil=True)
def _shapes(tail: Array, total: Array, rate: Array, shape: Array) -> None:  # pragma: no cover
    """Where the slope is zero, by halving: ``ψ(x+r) - ψ(r) = Σ_{j<x} 1/(r+j)``."""
    for c in range(len(total)):
        if total[c] <= 0:
            continue
        below, above = np.log(LEAST_SHAPE), np.log(MOST_SHAPE)
        for _ in range(HALVINGS):
            r = np.exp((below + above) / 2)
            slope = -total[c] * np.log1p(rate[c] / r)
            for j in range(tail.shape[1]):
                slope += tail[c, j] / (r + j)
            if slope > 0:
                below = (below + above) / 2
            else:
                above = (below + above) / 2
        shape[c] = np.exp((below + above) / 2)


def variances(rate: Array, shape: Array) -> Array:
    """``μ + μ²/r``."""
    return rate + rate * rate / shape


def draw(rate: Array, shape: Array, random: np.random.RandomState) -> Array:
    """One count for each rate and shape."""
    counts: Array = random.poisson(random.gamma(shape, rate / shape)).astype(float)
    return counts
