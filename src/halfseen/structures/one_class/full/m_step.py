"""What is likeliest of means and covariances, from what an E-step sums, with a prior.

The prior has four parts, all of them as likelihoods of rows that were seen before:

- κ cells of each component and feature with the feature's own mean m and variance v;
- ν₁ rows of each component that owe nothing to each other, ``ν₁/2 (-log|Σ| - tr Σ⁻¹ τ)``, so that
  no covariance becomes singular;
- if covariances differ, ν rows that have the correlations R that components share but the spreads
  of their own: ``ν/2 (log|T| - log|Σ| - tr Σ⁻¹ T)``, ``T = S R S``, where S (diagonal) and R are
  what makes that highest.

Given S and R, the prior of Σ is that of inverse Wishart; given Σ, S is the maximum of a concave
function and R a harmonic mean. Each step raises the penalised likelihood or leaves it.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.structures.one_class.full.lifted import lifted
from halfseen.structures.one_class.full.own_spreads import own_spreads
from halfseen.structures.one_class.full.parameters import FullParameters

CELLS, ROWS, ALIKE = 1.0, 2.0, 5.0
"""κ, ν₁, and ν for each feature."""
NARROW = 0.1
"""Of the variance of a feature: τ."""


class Facts(NamedTuple):
    """What the prior knows of the table; (d,) each."""

    mean: Array
    variance: Array
    floor: Array  # of what cells vary by given all others of their row


def maximised(
    weights: Array, sums: tuple[Array, ...], before: FullParameters, facts: Facts, tied: bool
) -> FullParameters:
    """``δ = Σs/N, μ⁺ = μ + δ, Σ̂ = Σ + Σ (P/N) Σ - δδ'``, and the prior's pull at Σ̂."""
    total, _, first, second = sums
    n, first, second = _with_cells(total[:, 0], first, second, before, facts)
    covariances = before.covariances
    step = np.einsum("kde,ke->kd", covariances, first) / n[:, None]
    apart = covariances @ second @ covariances / n[:, None, None]
    found = covariances + apart - step[:, :, None] * step[:, None, :]
    found = (found + found.swapaxes(1, 2)) / 2
    narrow = ROWS * np.diag(NARROW * facts.variance)
    after = replace(before, weights=weights, means=before.means + step)
    if tied or len(n) == 1:
        pooled = (np.tensordot(n, found, axes=1) + narrow) / (n.sum() + ROWS)
        pooled = lifted(pooled[None], facts.floor)
        return replace(after, covariances=np.repeat(pooled, len(n), axis=0))
    return _drawn_together(after, n[:, None, None], found, narrow, facts.floor)


def _with_cells(
    n: Array, first: Array, second: Array, before: FullParameters, facts: Facts
) -> tuple[Array, Array, Array]:
    """Sums with the cells that were seen before."""
    away, variance = facts.mean - before.means, before.variances
    every = np.arange(len(facts.mean))
    second = second.copy()
    second[:, every, every] += CELLS * ((away**2 + facts.variance) / variance - 1) / variance
    return n + CELLS * len(facts.mean), first + CELLS * away / variance, second


def _drawn_together(
    after: FullParameters, n: Array, found: Array, narrow: Array, floor: Array
) -> FullParameters:
    """Covariances that differ, drawn to the correlations that they share."""
    alike = ALIKE * found.shape[1]
    covariances, shared = after.covariances, correlations_of(after)
    spreads = own_spreads(np.linalg.inv(covariances), shared, _spreads(covariances))
    target = _like(shared, spreads)
    covariances = lifted((n * found + alike * target + narrow) / (n + alike + ROWS), floor)
    precisions: Any = np.linalg.inv(covariances)
    spreads = own_spreads(precisions, shared, spreads)
    shared = _as_correlations(np.linalg.inv(_like(precisions, spreads).mean(axis=0)))
    return replace(after, covariances=covariances, correlations=shared)


def correlations_of(parameters: FullParameters) -> Array:
    """Those that components share; at first, those of what is pooled."""
    if parameters.correlations is not None:
        return parameters.correlations
    return _as_correlations(np.tensordot(parameters.weights, parameters.covariances, axes=1))


def log_prior(parameters: FullParameters, facts: Facts, tied: bool) -> float:
    """What the prior adds to the log-likelihood of all rows."""
    variance, away = parameters.variances, facts.mean - parameters.means
    of_cells = np.log(2 * np.pi * variance) + (away**2 + facts.variance) / variance
    some = parameters.covariances[:1] if tied else parameters.covariances
    precisions, size = np.linalg.inv(some), np.linalg.slogdet(some)[1]
    wide = np.diagonal(precisions, axis1=1, axis2=2) @ (NARROW * facts.variance)
    height = -0.5 * CELLS * of_cells.sum() - 0.5 * ROWS * np.sum(size + wide)
    if tied or len(some) == 1:
        return float(height)
    shared = correlations_of(parameters)
    spreads = own_spreads(precisions, shared, _spreads(some))
    target = _like(shared, spreads)
    pull = np.linalg.slogdet(target)[1] - size - np.sum(precisions * target, axis=(1, 2))
    return float(height + 0.5 * ALIKE * len(shared) * np.sum(pull))


def _spreads(covariances: Array) -> Array:
    """Standard deviations: right if correlations are those that are shared."""
    return np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))


def _like(matrices: Array, spreads: Array) -> Array:
    """``S M S`` for spreads (k, d)."""
    scaled: Array = matrices * spreads[:, :, None] * spreads[:, None, :]
    return scaled


def _as_correlations(matrix: Array) -> Array:
    spread = np.sqrt(np.diag(matrix))
    found: Array = matrix / np.outer(spread, spread)
    return (found + found.T) / 2
