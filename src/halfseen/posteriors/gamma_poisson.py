"""Posteriors of gamma-Poisson loadings given the observed counts."""

import math

import numpy as np
from numba import njit
from scipy.optimize import nnls

from halfseen.core.arrays import Array, Mask
from halfseen.core.regression import RegressionSums
from halfseen.core.rows import Block, Rows
from halfseen.core.topic_parameters import TopicParameters


def best_linear_loadings(block: Block, parameters: TopicParameters) -> Array:
    """The best linear prediction of the loadings from the observed counts; (n, k).

    ``α̂ = m + (diag(1/s) + A_o' Ψ_o⁻¹ A_o)⁻¹ A_o' Ψ_o⁻¹ (x_o - A_o m)`` over the observed features
    o, Ψ being the Poisson variances ``A m``. Exact for every pattern of gaps.
    """
    topics, k = parameters.topics, len(parameters.means)
    rates = parameters.means @ topics  # (d,)
    scaled = topics / np.maximum(rates, np.finfo(float).tiny)  # (k, d)
    outer = (topics[:, None, :] * scaled[None, :, :]).reshape(k * k, -1)
    precision = (block.observed.astype(float) @ outer.T).reshape(-1, k, k)
    precision += np.diag(1 / parameters.variances)
    surprise = block.about(rates) @ scaled.T  # (n, k)
    loadings: Array = parameters.means + np.linalg.solve(precision, surprise[..., None])[..., 0]
    return loadings


def recover(rows: Rows, parameters: TopicParameters, used: Mask, complete: Mask) -> TopicParameters:
    """Shares of incomplete features, by non-negative least squares on predicted loadings.

    ``parameters`` are those of the ``used`` features; what comes back is for all of ``rows``.
    """
    reference = parameters.select(complete[used])
    targets = ~complete
    sums = rows.accumulate(
        RegressionSums.on(
            lambda block: best_linear_loadings(block, reference),
            complete,
            targets,
            np.zeros(int(targets.sum())),
        )
    )
    topics = np.empty((len(parameters.means), len(complete)))
    topics[:, complete] = reference.topics
    topics[:, targets] = _non_negative(sums).T
    return TopicParameters(topics, parameters.means, parameters.variances)


def _non_negative(sums: RegressionSums) -> Array:
    """Non-negative least squares from normal equations; (t, k)."""
    coefficients = np.empty_like(sums.cross)
    for target, (gram, cross) in enumerate(zip(sums.gram, sums.cross, strict=True)):
        # gram = R'R; a little on the diagonal keeps R invertible when loadings are collinear.
        ridge = 1e-10 * np.trace(gram) * np.eye(len(gram))
        root = np.linalg.cholesky(gram + ridge).T
        coefficients[target], _ = nnls(root, np.linalg.solve(root.T, cross))
    return coefficients


def posterior_mean_loadings(
    block: Block,
    topics: Array,
    shapes: Array,
    rate: float,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
) -> Array:
    """Posterior mean loadings under a factorised gamma approximation; (n, k).

    ``q(α_k) = Gamma(c_k + Σ_d x_d φ_dk, b + Σ_d a_dk)`` over observed d with
    ``φ_dk ∝ a_dk exp E[log α_k]``. As regressors these means are biased, as predictions they are
    within a few tenths of a percent of exact ones.
    """
    return _posterior_mean_loadings(
        np.ascontiguousarray(block.values),
        np.ascontiguousarray(block.observed),
        np.ascontiguousarray(topics.T),
        shapes,
        rate,
        tolerance,
        max_iterations,
    )


@njit(cache=True, nogil=True)
def _posterior_mean_loadings(
    counts: Array,
    observed: Mask,
    topics: Array,  # (d, k)
    shapes: Array,
    rate: float,
    tolerance: float,
    max_iterations: int,
) -> Array:  # pragma: no cover - compiled
    n_rows, n_features = counts.shape
    k = len(shapes)
    loadings = np.empty((n_rows, k))
    expected_log = np.empty(k)
    shape, new_shape, rates = np.empty(k), np.empty(k), np.empty(k)
    for row in range(n_rows):
        rates[:] = rate
        for d in range(n_features):
            if observed[row, d]:
                rates += topics[d]
        shape[:] = shapes + counts[row].sum() / k
        for _ in range(max_iterations):
            for c in range(k):
                expected_log[c] = math.exp(_digamma(shape[c])) / rates[c]
            new_shape[:] = shapes
            for d in range(n_features):
                if observed[row, d] and counts[row, d] > 0:
                    total = 0.0
                    for c in range(k):
                        total += topics[d, c] * expected_log[c]
                    if total > 0:
                        for c in range(k):
                            share = topics[d, c] * expected_log[c] / total
                            new_shape[c] += counts[row, d] * share
            change = np.abs(new_shape - shape).max()
            scale = new_shape.sum()
            shape[:] = new_shape
            if change <= tolerance * scale:
                break
        loadings[row] = shape / rates
    return loadings


@njit(cache=True, nogil=True)
def _digamma(x: float) -> float:  # pragma: no cover - compiled
    """Recurrence up to six, then the asymptotic series (Abramowitz and Stegun 6.3.18)."""
    value = 0.0
    while x < 6.0:
        value -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132)))
    )
    return value + math.log(x) - 0.5 / x - series
