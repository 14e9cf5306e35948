"""Topics' shares of incomplete columns, by regression on predicted loadings."""

from dataclasses import dataclass, replace

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block
from halfseen.latent.loadings import TopicParameters, best_linear_loadings
from halfseen.moments.regression import RegressionSums, Solution


@dataclass(frozen=True, eq=False)
class TopicRegression:
    """Non-negative least squares on predicted loadings."""

    origin: Array  # (d,)  zero: counts add up

    def reference(self, parameters: TopicParameters, features: Mask) -> TopicParameters:
        return parameters.select(features)

    def expectation(self, block: Block, reference: TopicParameters) -> Array:
        return best_linear_loadings(block, reference)

    def solved(self, sums: RegressionSums) -> Solution:
        return Solution(non_negative_least_squares(sums.gram, sums.cross), np.empty(0))

    def completed(
        self, reference: TopicParameters, complete: Mask, solution: Solution
    ) -> TopicParameters:
        topics = np.empty((len(reference.means), len(complete)))
        topics[:, complete] = reference.topics
        topics[:, ~complete] = solution.coefficients.T
        # Noise can leave a topic with no share of anything: then it is like the others together.
        lost = ~topics.any(axis=1)
        topics[lost] = reference.means @ topics
        return replace(reference, topics=topics)


# Non-negative least squares of many targets at once, from their normal equations.
#
# References
# ----------
# J. Kim, H. Park (2011), Fast nonnegative matrix factorization: an active-set-like method and
# comparisons: block principal pivoting.

RIDGE = 1e-10
"""Of the mean square of the regressors: keeps collinear ones from dividing by zero."""
BELOW = 1e-12
"""What is less below zero, of regressors of unit size, is rounding."""
PATIENCE = 3
"""Turns of exchanging all that is on the wrong side before one at a time is exchanged."""
MOST_TURNS = 100
"""For each regressor; then what is below zero is taken for zero."""


def non_negative_least_squares(gram: Array, cross: Array) -> Array:
    """``argmin_{b ≥ 0} b' G b - 2 b' c`` for each target, G being (t, k, k) and c (t, k); (t, k).

    Coefficients are either above zero, or zero where they would have to be below. Which are which
    is guessed, and those that turn out to be on the wrong side change it, until none is.
    """
    k = cross.shape[1]
    diagonal = np.diagonal(gram, axis1=1, axis2=2)
    unit = np.sqrt(np.maximum(diagonal + RIDGE * diagonal.sum(axis=1, keepdims=True), 1e-300))
    scaled = gram / unit[:, :, None] / unit[:, None, :]
    scaled[:, np.arange(k), np.arange(k)] = 1.0
    found = np.zeros(cross.shape)
    _pivot(np.ascontiguousarray(scaled), np.ascontiguousarray(cross / unit), found)
    coefficients: Array = found / unit
    return coefficients


@njit(cache=True, nogil=True)
def _pivot(gram: Array, cross: Array, out: Array) -> None:  # pragma: no cover - compiled
    n_targets, k = cross.shape
    lower, inside = np.empty((k, k)), np.empty(k, dtype=np.bool_)
    slope, wrong = np.empty(k), np.empty(k, dtype=np.bool_)
    for target in range(n_targets):
        coefficients, aim = out[target], cross[target]
        below = BELOW * np.abs(aim).max()
        for i in range(k):
            inside[i] = aim[i] > 0.0
        fewest, patience = k + 1, PATIENCE
        for _ in range(MOST_TURNS * k):
            _solve(gram[target], aim, inside, lower, coefficients)
            n_wrong, last = 0, -1
            for i in range(k):
                slope[i] = -aim[i]
                for j in range(k):
                    slope[i] += gram[target, i, j] * coefficients[j]
                wrong[i] = (coefficients[i] if inside[i] else slope[i]) < -below
                if wrong[i]:
                    n_wrong, last = n_wrong + 1, i
            if n_wrong == 0:
                break
            patience -= 1
            if n_wrong < fewest:
                fewest, patience = n_wrong, PATIENCE
            for i in range(k):
                if wrong[i] and (patience > 0 or i == last):
                    inside[i] = not inside[i]
        for i in range(k):
            coefficients[i] = max(coefficients[i], 0.0)


@njit(cache=True, nogil=True)
def _solve(
    gram: Array, aim: Array, inside: Mask, lower: Array, out: Array
) -> None:  # pragma: no cover - compiled
    """``G b = c`` among those ``inside`` (k,), by Cholesky's ``G = L L'``; zero for the others."""
    k = len(aim)
    for i in range(k):
        out[i] = 0.0
        if not inside[i]:
            continue
        total = aim[i]
        for j in range(i + 1):
            if inside[j]:
                product = gram[i, j]
                for c in range(j):
                    if inside[c]:
                        product -= lower[i, c] * lower[j, c]
                if j < i:
                    lower[i, j] = product / lower[j, j]
                    total -= lower[i, j] * out[j]
                else:
                    lower[i, i] = np.sqrt(max(product, 1e-14))
                    out[i] = total / lower[i, i]
    for back in range(k):
        i = k - 1 - back
        if inside[i]:
            for j in range(i + 1, k):
                if inside[j]:
                    out[i] -= lower[j, i] * out[j]
            out[i] /= lower[i, i]
