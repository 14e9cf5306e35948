"""Where mixtures of correlated columns begin.

With components at μ_k the covariance of all rows is C = S + Σ, S being that of the means. What is
known of C, from a single component, and of S, from components of independent columns, gives Σ.

Other starts do not depend on how columns are turned: k-means of sphered rows, and responsibilities
that are drawn at random.
"""

import numpy as np

from halfseen.rows.arrays import Array

LEAST = 0.15
"""Of the variance in any direction: components leave so much at least."""


def within_components(whole: Array, weights: Array, means: Array) -> Array:
    """``Σ = C - S`` (d, d), of which no direction has less than a share of what C has."""
    about = means - weights @ means
    root = np.linalg.cholesky(whole)
    back = np.linalg.solve(root, about.T)
    left = np.eye(len(whole)) - (back * weights) @ back.T
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    side = root @ vectors
    found: Array = (side * np.maximum(values, LEAST)) @ side.T
    return (found + found.T) / 2


LLOYD_STEPS = 20
BLUR = 0.1
"""What a row has of all components alike, if it has the rest of its cluster."""


def sphered(rows: Array, mean: Array, covariance: Array) -> Array:
    """Complete rows (n, d) in coordinates in which their covariance is the identity."""
    found: Array = np.linalg.solve(np.linalg.cholesky(covariance), (rows - mean).T).T
    return found


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
