"""Positive definite matrices in coordinates in which every step leads to another one."""

import numpy as np

from halfseen.rows.arrays import Array


def coordinates_of(matrices: Array) -> Array:
    """Log standard deviations, and below them how each feature leans on those before; (..., d, d).

    With L the Cholesky factor of the correlations these are ``L_ij / L_ii``: any numbers will do,
    and rows of unit length follow from them.
    """
    spread = np.sqrt(np.diagonal(matrices, axis1=-2, axis2=-1))
    factor = np.linalg.cholesky(matrices / (spread[..., :, None] * spread[..., None, :]))
    leaning = np.tril(factor / np.diagonal(factor, axis1=-2, axis2=-1)[..., None], -1)
    places: Array = leaning + np.eye(spread.shape[-1]) * np.log(spread)[..., None]
    return places


def from_coordinates(places: Array) -> Array:
    """The matrices with these coordinates; (..., d, d)."""
    spread = np.exp(np.diagonal(places, axis1=-2, axis2=-1))
    rows = np.tril(places, -1) + np.eye(places.shape[-1])
    rows = rows * (spread / np.linalg.norm(rows, axis=-1))[..., None]
    matrices: Array = rows @ np.swapaxes(rows, -1, -2)
    return matrices
