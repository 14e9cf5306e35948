"""How much each feature counts.

A feature's weight multiplies its rows and columns in every moment, ``S*_ij = w_i w_j S_ij``, which
keeps a sum of K rank-one terms a sum of K rank-one terms: the same as rescaling the feature.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfseen.moments.moments import Signal
from halfseen.rows.arrays import Array

Weighting = Callable[[Array, Signal], Array]
"""From observed fractions (d,) and signal to weights (d,)."""


def observed(fraction: Array, signal: Signal) -> Array:
    """``w = p``, the choice of Gottesman, Pan and Doshi-Velez."""
    return fraction


def square_root(fraction: Array, signal: Signal) -> Array:
    """``w = √p``, that paper's other choice."""
    return np.sqrt(fraction)


def equal(fraction: Array, signal: Signal) -> Array:
    """``w = 1``: every feature counts the same."""
    return np.ones_like(fraction)


def signal_aware(fraction: Array, signal: Signal) -> Array:
    """Weights that even out the sampling noise which turns the signal's subspace.

    In complete data the sampling error of the latent covariance stays within the span of the
    components and does no harm; gaps break that. What harms has variance

        [(1 - p_i p_j) S_ii S_jj + S_ii ψ_j + ψ_i S_jj + ψ_i ψ_j] / (N p_i p_j),

    and the separable weights that equalise it (weighted low-rank approximation with rank-one
    weights, Srebro and Jaakkola 2003) are ``w_d = √(p_d / (ψ_d + (1 - p_d) S_dd))``, scaled to a
    largest weight of one.
    """
    # A feature whose estimated signal is lost in noise still has some.
    variance = np.maximum(signal.variance, 0.05 * (signal.variance + signal.noise))
    weights = np.sqrt(fraction / (signal.noise + (1 - fraction) * variance))
    scaled: Array = weights / weights.max()
    return scaled


def given(weights: Array) -> Weighting:
    """The user's own weights."""
    return lambda fraction, signal: weights


WEIGHTINGS: dict[str, Weighting] = {
    "observed": observed,
    "sqrt": square_root,
    "none": equal,
    "signal": signal_aware,
}


def given_weights(estimator: str, value: Any, n_features: int) -> Array:
    """The user's own weights, one a feature, if that is what they are."""
    try:
        weights = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (n_features,) or not (np.isfinite(weights) & (weights > 0)).all():
        words = ", ".join(repr(word) for word in sorted(("auto", *WEIGHTINGS))[:-1])
        raise ValueError(
            f"The 'feature_weights' parameter of {estimator} must be {words} or 'sqrt', or "
            f"{n_features} positive numbers, one a feature. Got {value!r} instead."
        )
    return weights
