"""What is likeliest of factors, feature by feature, from what an E-step sums, with a prior.

Given the factors cells are independent, so that each feature has a regression of its own. In turn
μ and λ, then ψ, then μ and s are where the penalised likelihood is highest given the others, which
so never falls (ECM: X.-L. Meng, D. Rubin 1993). The variances s² of each feature have the prior of
:mod:`halfseen.structures.one_class.common_covariance`; loadings have a ridge in units of what they
leave, so that no feature is explained whole.
"""

from dataclasses import replace

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.structures.one_class.common_covariance import (
    common_variances,
    log_prior_of_variances,
)
from halfseen.structures.one_class.factor.e_step import middle_of, whole
from halfseen.structures.one_class.factor.parameters import FactorParameters

LEAST_OWN = 1e-3
"""Of a feature's variance, that no factor explains at least (a Heywood case would explain all)."""
ALIKE_ROWS = 1.0
"""Of the prior on variances, in rows of each component."""
LOADING_ROWS = 1.0
"""ν, in rows of the table, of the ridge ``-ν/2 Σ_d |λ_d|²/ψ_d`` on loadings beside what is left."""
NEWTON_STEPS = 30
AT_REST = 1e-12


def maximised(
    weights: Array, sums: tuple[Array, ...], before: FactorParameters, strength: float, floor: Array
) -> FactorParameters:
    """One round of conditional maximisations, with priors of a ``strength``.

    No cell has less than ``floor`` (d,) that no factor explains.
    """
    origin, q = middle_of(before), before.pattern.shape[1]
    count, first, second, factor, cross, upper = sums
    square = whole(upper, q)
    n = np.maximum(count, 1e-12)
    # About the best means: c = Σ r (x - x̄) z, C = Σ r (z - z̄)(z - z̄)', a = Σ r (x - x̄)².
    c = cross - (first / n)[:, :, None] * factor
    big = square - factor[:, :, :, None] * (factor / n[:, :, None])[:, :, None, :]
    a = np.maximum(second - first**2 / n, 0.0)
    s = before.spreads
    ridge = strength * LOADING_ROWS
    normal = big.sum(axis=0) + ridge * np.eye(q)
    pattern = np.linalg.solve(normal, np.sum(c / s[:, :, None], axis=0)[:, :, None])[..., 0]
    along = np.einsum("kdq,dq->kd", c, pattern)
    explained = np.einsum("dp,kdpq,dq->kd", pattern, big, pattern)
    own = np.sum(a / s**2 - 2 * along / s + explained, axis=0) + ridge * np.sum(pattern**2, axis=1)
    own = own / n.sum(axis=0)
    least = LEAST_OWN / (1 - LEAST_OWN) * np.sum(pattern**2, axis=1)
    own = np.maximum.reduce([own, least, np.max(floor / s**2, axis=0), np.full_like(own, 1e-12)])
    common = common_variances(s**2)
    inverse = _inverse_spreads(count, a / own, along / own, common, strength * ALIKE_ROWS, 1 / s)
    inverse = np.minimum(inverse, np.sqrt(own / np.maximum(floor, 1e-300)))
    found = (first - np.einsum("kdq,dq->kd", factor, pattern) / inverse) / n
    means = np.where(count > 1e-10, origin + found, before.means)
    size = np.sum(pattern**2, axis=1) + own
    return replace(
        before,
        weights=weights,
        means=means,
        spreads=np.sqrt(size) / inverse,
        pattern=pattern / np.sqrt(size)[:, None],
    )


def _inverse_spreads(
    count: Array, squares: Array, along: Array, common: Array, rows: float, start: Array
) -> Array:
    """``t = 1/s`` where ``N log t - A t²/2 + B t - κ/2 (W t² + 1/(W t²))`` is highest; (k, d).

    That is concave; Newton's steps in log t are damped until they are small.
    """
    a, t = squares + rows * common, start.copy()
    known = (a > 0) & (count + rows > 0)
    a = np.where(known, a, 1.0)
    for _ in range(NEWTON_STEPS):
        pull = rows / (common * t**2)
        slope = np.where(known, count - a * t**2 + along * t + pull, 0.0)  # in log t
        safe = 2 * a * t**2 + np.abs(along) * t + 2 * pull
        bend = safe - (np.abs(along) + along) * t
        step = np.clip(slope / np.where(bend > safe / 4, bend, safe), -1.0, 1.0)
        t = t * np.exp(step)
        if np.abs(step).max(initial=0.0) < AT_REST:
            break
    return t


def log_prior(parameters: FactorParameters, strength: float) -> float:
    """What the priors add to the log-likelihood of all rows."""
    ratio = np.sum(parameters.pattern**2, axis=1) / parameters.own
    of_variances = log_prior_of_variances(parameters.variances, strength * ALIKE_ROWS)
    return of_variances - 0.5 * strength * LOADING_ROWS * float(ratio.sum())
