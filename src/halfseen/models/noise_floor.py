"""The variance that spherical components share, from the smallest eigenvalues."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from halfseen.core.arrays import Array, Mask
from halfseen.core.errors import DataError


class NoiseFloor(NamedTuple):
    """The noise level of a mixture, and the directions in which there is only noise."""

    variance: float  # σ², averaged over the components
    null: Array  # (d, m)  orthonormal, zero outside the complete features


def exact_rank(n_complete: int, n_components: int) -> int:
    """The covariance of K component means has rank K - 1: D - K + 1 eigenvalues are noise."""
    return n_complete - n_components + 1


def paper_rank(n_complete: int, n_components: int) -> int:
    """Gottesman, Pan and Doshi-Velez average one eigenvalue fewer, D - K, which biases σ² down."""
    return n_complete - n_components


NOISE_EIGENVALUES: dict[str, Callable[[int, int], int]] = {
    "D-K+1": exact_rank,
    "D-K": paper_rank,
}


def noise_floor(covariance: Array, complete: Mask, n_noise: int, n_components: int) -> NoiseFloor:
    """The mean of the ``n_noise`` smallest eigenvalues of the complete features' covariance.

    Only complete features, because the smallest eigenvalue of poorly estimated moments says more
    about the estimate than about the noise.
    """
    n_complete = int(np.count_nonzero(complete))
    if n_noise < 1:
        raise DataError(
            f"n_components={n_components} needs at least {n_complete + 1 - n_noise} complete "
            f"features to estimate the noise, but there are {n_complete} "
            f"(n_features={n_complete}). Lower complete_above, use fewer components, or add "
            "features that are observed in most rows."
        )
    values, vectors = np.linalg.eigh(covariance[np.ix_(complete, complete)])
    null = np.zeros((len(complete), n_noise))
    null[complete] = vectors[:, :n_noise]
    # A noise of zero would make a density infinite: copies of a feature can cause it.
    floor = 1e-6 * values.mean()
    return NoiseFloor(max(float(values[:n_noise].mean()), floor), null)
