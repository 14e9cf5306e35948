"""Gaussian noise on sums, for the differential privacy of single rows.

References
----------
B. Balle, Y.-X. Wang (2018), Improving the Gaussian mechanism for differential privacy: analytical
calibration and optimal denoising.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from halfseen.data.arrays import Array
from halfseen.federated.plan import Noise, Plan
from halfseen.moments.moment_sums import MomentSums


def delta_of(sigma: float, epsilon: float) -> float:
    """The smallest δ for which noise of that deviation is (ε, δ) private at a sensitivity of one.

    ``Φ(1/(2σ) - εσ) - e^ε Φ(-1/(2σ) - εσ)``.
    """
    away = 0.5 / sigma
    second = math.exp(epsilon + log_ndtr(-away - epsilon * sigma))
    return float(ndtr(away - epsilon * sigma) - second)


def deviation(epsilon: float, delta: float) -> float:
    """The smallest standard deviation of noise that is (ε, δ) private at a sensitivity of one.

    >>> round(deviation(1.0, 1e-5), 2)  # the classical bound is 4.84
    3.73
    """
    low, high = 1e-6, 1.0
    while delta_of(high, epsilon) > delta:
        high *= 2
    return float(brentq(lambda sigma: delta_of(sigma, epsilon) - delta, low, high, xtol=1e-12))


def lengths(noise: Noise, n_features: int) -> Array:
    """How much one row can change sums of one, two and three factors at most; (3,).

    A row's ``u`` holds at most d ones and deviations of the agreed norm, so that
    ``‖u‖² ≤ R² = d + norm²``, ``‖u⊗u‖ ≤ R²`` and ``‖u⊗u⊗u‖ ≤ R³``. Entries of symmetric arrays
    are there once, which makes them no longer. The number of rows changes by one.
    """
    radius = math.sqrt(n_features + noise.norm**2)
    return np.array([1.0, radius**2, radius**3])


def budget(plan: Plan, epsilon: float | None) -> Noise | None:
    """The noise of a plan, or more of it, if a place has a smaller ``epsilon`` of its own."""
    if epsilon is None:
        return plan.noise
    if plan.noise is None:
        raise ValueError(
            "Noise needs a norm that rows are clipped to, in all places alike, and the plan has "
            "none. Draft a plan with noise."
        )
    if epsilon > plan.noise.epsilon:
        raise ValueError(
            f"The plan allows an epsilon of {plan.noise.epsilon:g}, and {epsilon:g} would tell "
            "more. Give a smaller one, or none."
        )
    return replace(plan.noise, epsilon=epsilon)


def noised(sums: MomentSums, noise: Noise | None, random: np.random.Generator) -> MomentSums:
    """The sums with noise, if any, for the privacy that is asked for.

    The parts are released together: each divided by its length they change by at most the root of
    their number, which is what the noise is made for.
    """
    if noise is None:
        return sums
    d = sums.n_features
    rows, pairs, triples = lengths(noise, d)
    n_parts = 2 + sums.triples + bool(sums.levels.size)
    sigma = deviation(noise.epsilon, noise.delta) * math.sqrt(n_parts)
    upper = np.triu(random.normal(size=sums.second.shape))
    second = sums.second + sigma * pairs * (upper + np.triu(upper, 1).T)
    third = sums.third + sigma * triples * random.normal(size=sums.third.shape)
    levels = sums.levels + sigma * math.sqrt(d) * random.normal(size=sums.levels.shape)
    n_rows = sums.n_rows + sigma * rows * random.normal()
    return replace(sums, second=second, third=third, levels=levels, n_rows=float(n_rows), n_empty=0)
