"""What is likeliest of factors, feature by feature, from what an E-step sums, with a prior.

Given the factors cells are independent, so that each feature has a regression of its own. In turn
μ and λ, then ψ, then μ and s are where the penalised likelihood is highest given the others, which
so never falls (ECM: X.-L. Meng, D. Rubin 1993). The prior is κ cells of each component and feature
with the feature's own mean and variance, and a few cells about each mean that owe nothing to the
factors, so that no feature is explained whole.
"""

from dataclasses import replace

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.block import upper_pairs
from halfseen.structures.one_class.factor.e_step import middle_of, whole
from halfseen.structures.one_class.factor.parameters import FactorParameters
from halfseen.structures.one_class.full.m_step import CELLS, NARROW, ROWS, Facts

LEAST_OWN = 1e-3
"""Of a feature's variance, that no factor explains."""


def maximised(
    weights: Array, sums: tuple[Array, ...], before: FactorParameters, facts: Facts
) -> FactorParameters:
    """One round of conditional maximisations."""
    origin, q = middle_of(before), before.pattern.shape[1]
    centre = facts.mean - origin
    count, first, second, factor, cross, upper = _with_cells(sums, before, facts, centre, origin)
    square = whole(upper, q)
    n = np.maximum(count, 1e-12)
    # About the best means: c = Σ r (x - x̄) z, C = Σ r (z - z̄)(z - z̄)', a = Σ r (x - x̄)².
    c = cross - (first / n)[:, :, None] * factor
    big = square - factor[:, :, :, None] * (factor / n[:, :, None])[:, :, None, :]
    a = np.maximum(second - first**2 / n, 0.0)
    s = before.spreads
    pattern = np.linalg.solve(big.sum(axis=0), np.sum(c / s[:, :, None], axis=0)[:, :, None])[
        ..., 0
    ]
    along = np.einsum("kdq,dq->kd", c, pattern)
    explained = np.einsum("dp,kdpq,dq->kd", pattern, big, pattern)
    # Cells about the means that have no factors behind them.
    few = ROWS / len(weights)
    a, number = a + few * NARROW * facts.variance, count + few
    own = np.sum(a / s**2 - 2 * along / s + explained, axis=0) / number.sum(axis=0)
    own = np.maximum(np.maximum(own, 1e-12), np.max(facts.floor / s**2, axis=0))
    inverse = (along + np.sqrt(along**2 + 4 * a * number * own)) / (2 * a)
    inverse = np.minimum(inverse, np.sqrt(own / np.maximum(facts.floor, 1e-300)))
    means = (first - np.einsum("kdq,dq->kd", factor, pattern) / inverse) / n
    size = np.sum(pattern**2, axis=1) + own
    return replace(
        before,
        weights=weights,
        means=origin + means,
        spreads=np.sqrt(size) / inverse,
        pattern=pattern / np.sqrt(size)[:, None],
    )


def _with_cells(
    sums: tuple[Array, ...], before: FactorParameters, facts: Facts, centre: Array, origin: Array
) -> tuple[Array, ...]:
    """Sums with the cells that were seen before, whose factors are as uncertain as any."""
    count, first, second, factor, cross, upper = sums
    pattern, s, means = before.pattern, before.spreads, before.means - origin
    left, right = upper_pairs(pattern.shape[1])
    y, yy = (centre - means) / s, ((centre - means) ** 2 + facts.variance) / s**2
    xy = (centre**2 + facts.variance - centre * means) / s
    outer = pattern[:, left] * pattern[:, right]
    return (
        count + CELLS,
        first + CELLS * centre,
        second + CELLS * (centre**2 + facts.variance),
        factor + CELLS * y[:, :, None] * pattern,
        cross + CELLS * xy[:, :, None] * pattern,
        upper + CELLS * (outer * (yy[:, :, None] - 1) + (left == right)),
    )


def log_prior(parameters: FactorParameters, facts: Facts) -> float:
    """What the prior adds to the log-likelihood of all rows."""
    variance, noise = parameters.variances, parameters.noise
    away = facts.mean - parameters.means
    of_cells = np.log(2 * np.pi * variance) + (away**2 + facts.variance) / variance
    of_few = np.log(2 * np.pi * noise) + NARROW * facts.variance / noise
    few = ROWS / len(parameters.weights)
    return float(-0.5 * (CELLS * of_cells.sum() + few * of_few.sum()))
