"""Where mixtures of correlated columns begin: what components leave of the covariance of all rows.

With components at μ_k the covariance of all rows is C = S + Σ, S being that of the means. What is
known of C, from a single component, and of S, from components of independent columns, gives Σ.
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
