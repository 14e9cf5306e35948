"""Where mixtures of correlated columns begin.

With components at μ_k the covariance of all rows is C = S + Σ, S being that of the means. What is
known of C, from a single component, and of S, from components of independent columns, gives Σ.

Other starts do not depend on how columns are turned: k-means of sphered rows
(:mod:`halfseen.method.k_means`), and responsibilities that are drawn at random.
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


def sphered(rows: Array, mean: Array, covariance: Array) -> Array:
    """Complete rows (n, d) in coordinates in which their covariance is the identity."""
    found: Array = np.linalg.solve(np.linalg.cholesky(covariance), (rows - mean).T).T
    return found
