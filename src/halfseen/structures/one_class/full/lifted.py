"""Covariances that are nowhere below a floor."""

import numpy as np

from halfseen.rows.arrays import Array


def lifted(covariances: Array, floor: Array) -> Array:
    """Where ``-log|Σ| - tr Σ⁻¹ S`` is highest with no direction of Σ below F; S (k, d, d).

    F is diagonal, with ``floor`` (d,) on it. With ``F^-½ S F^-½ = U Λ U'`` that is
    ``F^½ U max(Λ, 1) U' F^½``. Each cell then has at least the variance F given all others of its
    row. A floor of zero holds for none of the features.
    """
    if not floor.any():
        return covariances
    try:
        np.linalg.cholesky(covariances - np.diag(floor))
    except np.linalg.LinAlgError:
        scale = np.sqrt(np.outer(floor, floor))
        values, vectors = np.linalg.eigh(covariances / scale)
        above = (vectors * np.maximum(values, 1.0)[:, None, :]) @ vectors.swapaxes(1, 2)
        found: Array = (above + above.swapaxes(1, 2)) / 2 * scale
        return found
    return covariances
