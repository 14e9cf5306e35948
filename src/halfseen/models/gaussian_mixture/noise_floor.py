"""The variance that spherical components share, from the smallest eigenvalues."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfseen.moments.eigen import leading_eigenpairs
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError, WeakMomentsWarning, warn

MOST_NULL = 32
"""Null directions that are averaged over: the cost grows with their cube, the gain levels off."""


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


def noise_floor(
    covariance: Array,
    fraction: Array,
    complete: Mask,
    n_noise: Callable[[int, int], int],
    n_components: int,
) -> NoiseFloor:
    """The mean of the smallest eigenvalues of the well-observed features' covariance.

    Only well-observed features, because the smallest eigenvalue of poorly estimated moments says
    more about the estimate than about the noise.
    """
    features = well_observed(fraction, complete, n_noise, n_components)
    values, vectors = np.linalg.eigh(covariance[np.ix_(features, features)])
    n = n_noise(len(values), n_components)
    null = np.zeros((len(complete), n))
    null[features] = vectors[:, :n]
    # A noise of zero would make a density infinite: copies of a feature can cause it.
    floor = 1e-6 * values.mean()
    return NoiseFloor(max(float(values[:n].mean()), floor), null)


def thin_noise_floor(
    second: Any,
    unit: Array,
    features: Mask,
    n_noise: Callable[[int, int], int],
    n_components: int,
) -> NoiseFloor:
    """The same of a second moment that only multiplies, for ``features`` (d,) in their units.

    The smallest eigenvalues are what the largest leave of the trace, and directions drawn at random
    are rid of the largest ones' eigenvectors.
    """
    scale = np.where(features, 1 / unit, 0.0)
    d = int(np.count_nonzero(features))
    n = n_noise(d, n_components)
    values, vectors = leading_eigenpairs(second, scale, d - n)
    values, vectors = values[: d - n], vectors[:, : d - n]
    trace = float(np.sum(scale**2 * second.diagonal()))
    drawn = np.random.default_rng(0).standard_normal((len(features), min(n, MOST_NULL)))
    drawn = drawn * features[:, None]
    null, _ = np.linalg.qr(drawn - vectors @ (vectors.T @ drawn))
    return NoiseFloor(max((trace - float(values.sum())) / n, 1e-6 * trace / d), null)


def well_observed(
    fraction: Array, complete: Mask, n_noise: Callable[[int, int], int], n_components: int
) -> Mask:
    """The complete features or, where they are too few, those observed nearly as often."""
    needed = next(d for d in itertools.count(1) if n_noise(d, n_components) >= 1)
    n_complete = int(np.count_nonzero(complete))
    if n_complete >= needed:
        return complete
    if len(fraction) < needed:
        raise DataError(
            f"n_components={n_components} needs at least {needed} features to tell components "
            f"from noise, but only {len(fraction)} can be used (n_features={len(fraction)}). "
            "Use fewer components, or add features that are observed in most rows."
        )
    features: Mask = fraction >= np.sort(fraction)[-needed] / 2
    warn(
        f"Only {n_complete} features are complete, fewer than the {needed} from which to tell "
        f"{n_components} components from noise; the {np.count_nonzero(features)} best observed "
        "are used instead. Lower complete_above to choose them, or use fewer components.",
        WeakMomentsWarning,
    )
    return features
