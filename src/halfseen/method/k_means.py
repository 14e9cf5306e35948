"""Starts by k-means."""

import numpy as np

from halfseen.rows.arrays import Array

LLOYD_STEPS = 20
BLUR = 0.1
"""What a row has of all components alike, if it has the rest of its cluster."""


def k_means(values: Array, weights: Array, k: int, random: np.random.Generator) -> Array:
    """Responsibilities (n, k) by Lloyd's algorithm from k-means++ seeds, slightly blurred."""
    centres = values[[random.choice(len(values), p=weights / weights.sum())]]
    while len(centres) < k:
        chance = weights * _squares(values, centres).min(axis=1)
        chance = chance if chance.sum() > 0 else weights
        row = random.choice(len(values), p=chance / chance.sum())
        centres = np.vstack([centres, values[row]])
    for _ in range(LLOYD_STEPS):
        groups = np.eye(k)[_squares(values, centres).argmin(axis=1)] * weights[:, None]
        count = groups.sum(axis=0)[:, None]
        centres = np.where(count > 0, groups.T @ values / np.maximum(count, 1e-300), centres)
    nearest = np.eye(k)[_squares(values, centres).argmin(axis=1)]
    share: Array = (1 - BLUR) * nearest + BLUR / k
    return share


def _squares(values: Array, centres: Array) -> Array:
    """Squared distances; (n, c)."""
    square = (values**2).sum(axis=1)[:, None] - 2 * values @ centres.T + (centres**2).sum(axis=1)
    found: Array = np.maximum(square, 0.0)
    return found
