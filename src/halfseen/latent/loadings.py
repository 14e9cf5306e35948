"""Loadings on topics: prior and posterior.

Loadings ``α_k = τ θ_k`` are a total ``τ ~ Gamma(shape g, rate b)`` times shares
``θ ~ Dirichlet(c)``, and counts ``x_d ~ Poisson(Σ_k α_k a_kd)``. With ``g = Σ c_k`` loadings are
independent gammas; otherwise their density has the factor ``τ^(g - Σ c_k)`` beside those gammas'.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import digamma, gammaln, polygamma
from scipy.special import digamma as scipys_digamma

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.counts import Indices, Nonzeros
from halfseen.data.interrupts import short_calls
from halfseen.data.rows import Block


class LoadingPrior:
    """The prior of loadings, and how counts arise from them."""

    topics: Array  # (k, d)  a_k in rows
    shapes: Array  # (k,)    c, of the gammas, or of the shares
    rate: float  # b

    @property
    def extra(self) -> float:
        """``g - Σ c_k``, zero if loadings are independent."""
        return 0.0


class Rest(NamedTuple):
    """Counts that were not recorded, if row totals are known."""

    counts: Array  # (n,)
    shares: Array  # (n, k)  of each topic that lies in features which the row does not have

    @classmethod
    def none(cls, n_rows: int, n_topics: int) -> "Rest":
        return cls(np.zeros(n_rows), np.zeros((n_rows, n_topics)))


def unrecorded(block: Block, topics: Array, totals: Array) -> Rest:
    """Unrecorded counts of rows with known ``totals`` (n,)."""
    seen = block.presence().onto(np.ascontiguousarray(topics.T))
    shares = np.ascontiguousarray(np.maximum(topics.sum(axis=1) - seen, 0.0))
    left = np.maximum(totals - block.nonzeros().totals(), 0.0)
    return Rest(np.where(shares.max(axis=1, initial=0.0) > 0, left, 0.0), shares)


def exposures(block: Block, law: LoadingPrior, rest: Rest | None) -> Array:
    """``b + Σ_d a_kd`` over what is observed, or over everything if the rest is known; (n, k)."""
    seen = law.rate + block.presence().onto(law.topics.T)
    return seen if rest is None else seen + rest.shares


def loading_means(law: LoadingPrior) -> Array:
    """``E[α_k] = g/b · c_k/Σ c``; (k,)."""
    means: Array = (1 + law.extra / law.shapes.sum()) * law.shapes / law.rate
    return means


def variance_along(law: LoadingPrior, directions: Array) -> Array:
    """``var(Σ_k w_k α_k)`` for directions w in rows (n, k); (n,).

    Of independent gammas it is ``Σ w_k² c_k/b²``; ``var(w·α) = E[τ²] var(w·θ) + (w·E θ)² var(τ)``.
    """
    total, total_shape = law.shapes.sum(), law.shapes.sum() + law.extra
    mean = law.shapes / total
    along, square = directions @ mean, directions**2 @ mean
    of_shares = (square - along**2) / (total + 1)
    found: Array = total_shape * ((total_shape + 1) * of_shares + along**2) / law.rate**2
    return found


MOST_SHAPE = 1e8
"""Of loadings: with a larger one they vary by less than a hundredth of a percent, as if not."""


def some_variance(means: Array, variances: Array) -> Array:
    """Variances of loadings (k,), at least ``mean² / MOST_SHAPE``."""
    return np.maximum(variances, means**2 / MOST_SHAPE)


@dataclass(frozen=True, eq=False)
class TopicParameters:
    """``x_d ~ Poisson(Σ_k α_k a_kd)``, loadings α_k independent with known mean and variance."""

    topics: Array  # (k, d)  a_k in rows
    means: Array  # (k,)     E[α_k]
    variances: Array  # (k,) var(α_k)

    def select(self, features: Mask) -> Self:
        return replace(self, topics=self.topics[:, features])

    def reordered(self, order: Any) -> Self:
        return type(self)(self.topics[order], self.means[order], self.variances[order])

    @property
    def precision(self) -> Array:
        """The inverse of the loadings' covariance; (k, k)."""
        return np.diag(1 / self.variances)

    def normalised(self) -> Self:
        """The same model with topics that sum to one, so that loadings count words."""
        lengths = self.topics.sum(axis=1)
        return replace(
            self,
            topics=self.topics / lengths[:, None],
            means=self.means * lengths,
            variances=self.variances * lengths**2,
        )

    @property
    def shapes(self) -> Array:
        """Shapes ``c_k`` of gamma loadings with these means and variances; (k,)."""
        return self.means**2 / some_variance(self.means, self.variances)

    @property
    def rate(self) -> float:
        """The common rate ``b`` that gives these shapes the right total mean."""
        return float(self.shapes.sum() / self.means.sum())


NEGLIGIBLE_SHARE = 1e-9
"""Of the share that a feature has in all counts: as good as no share in a topic."""


def non_negative_shares(scaled: Array, mean: Array) -> Array:
    """Multiples of topics in columns (d, k), without negative shares.

    Noise can leave a feature with no share in any topic, though it is counted: it is given an even
    one by its mean (d,), or its counts would be impossible. What rounding leaves of none is none.
    """
    scaled = np.maximum(scaled, 0.0)
    even = np.outer(mean / mean.sum(), scaled.sum(axis=0))
    lost = (scaled <= NEGLIGIBLE_SHARE * even).all(axis=1)
    scaled[lost] = even[lost]
    return scaled


def normalised_topics(scaled: Array, mean: Array) -> Array:
    """Topics in columns of sum one; a topic without any share is the mean."""
    scaled = non_negative_shares(scaled, mean)
    empty = ~scaled.any(axis=0)
    scaled[:, empty] = mean[:, None]
    topics: Array = scaled / scaled.sum(axis=0)
    return topics


def best_linear_loadings(block: Block, parameters: TopicParameters) -> Array:
    """The best linear prediction of the loadings from the observed counts; (n, k).

    ``α̂ = m + (C⁻¹ + A_o' Ψ_o⁻¹ A_o)⁻¹ A_o' Ψ_o⁻¹ (x_o - A_o m)`` over the observed features
    o, C being the loadings' covariance and Ψ the Poisson variances ``A m``. Exact for every pattern
    of gaps.
    """
    topics, k = parameters.topics, len(parameters.means)
    rates = parameters.means @ topics  # (d,)
    scaled = topics / np.maximum(rates, np.finfo(float).tiny)  # (k, d)
    prior = parameters.precision
    deviations = block.deviations(rates)
    # Rows without gaps, often nearly all, share their precision.
    coefficients = np.linalg.solve(topics @ scaled.T + prior, scaled)  # (k, d)
    loadings = deviations.onto(coefficients.T.astype(float, copy=False))
    gappy = block.presence().onto(np.ones((topics.shape[1], 1)))[:, 0] < topics.shape[1]
    if gappy.any():
        outer = (topics[:, None, :] * scaled[None, :, :]).reshape(k * k, -1)
        precision = block.presence().onto(outer.T)[gappy].reshape(-1, k, k) + prior
        surprise = deviations.onto(scaled.T)[gappy]
        loadings[gappy] = np.linalg.solve(precision, surprise[..., None])[..., 0]
    return parameters.means + loadings


class FactorisedPosterior(NamedTuple):
    """Independent gammas, ``q(α_k) = Gamma(shape, rate)``, as close to the posterior as can be."""

    shapes: Array  # (n, k)
    rates: Array  # (n, k)
    evidence: Array  # (n,)  Σ_d x_d log Σ_k a_dk exp E[log α_k]

    @property
    def mean(self) -> Array:
        """Expected loadings; (n, k)."""
        return self.shapes / self.rates


def factorised_posterior(
    block: Block,
    law: LoadingPrior,
    rest: Rest | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
) -> FactorisedPosterior:
    """Mean-field posterior of the loadings given the observed counts.

    ``shape = c_k + Σ_d x_d φ_dk`` and ``rate = b + Σ_d a_dk`` over observed d, with
    ``φ_dk ∝ a_dk exp E[log α_k]``. Its means are biased as regressors, but as predictions they are
    within a few tenths of a percent of exact ones. What is ``extra`` in the law does not matter if
    rates are alike, and is left out.
    """
    rates = np.ascontiguousarray(exposures(block, law, rest))
    return _climbed(block.nonzeros(), law, rates, rest, tolerance, max_iterations)


def mean_field(
    counts: Nonzeros, law: LoadingPrior, rates: Array, rest: Rest | None = None
) -> Array:
    """Mean-field posterior means of loadings, given rates of exposure; (n, k)."""
    return _climbed(counts, law, rates, rest, 1e-8, 1000).mean


def _climbed(
    counts: Nonzeros,
    law: LoadingPrior,
    rates: Array,
    rest: Rest | None,
    tolerance: float,
    max_iterations: int,
) -> FactorisedPosterior:
    topics, prior = np.ascontiguousarray(law.topics.T), np.ascontiguousarray(law.shapes)
    beyond = Rest.none(*rates.shape) if rest is None else rest
    shapes, evidence = np.empty(rates.shape), np.zeros(len(rates))
    for some in short_calls(max_iterations * rates.shape[1] * (1.0 + np.diff(counts.starts))):
        _factorised(
            *counts.part(some),
            topics,
            prior,
            rates[some],
            beyond.counts[some],
            beyond.shares[some],
            tolerance,
            max_iterations,
            shapes[some],
            evidence[some],
        )
    return FactorisedPosterior(shapes, rates, evidence)


def log_factorials(block: Block) -> Array:
    """``Σ log x!`` of each row; (n,)."""
    counts = block.nonzeros()
    return counts.row_sums(gammaln(counts.counts + 1))


def likelihood_bound(block: Block, law: LoadingPrior) -> Array:
    """A lower bound of log-likelihoods of rows, for independent loadings; (n,)."""
    q = factorised_posterior(block, law)
    c, b = law.shapes, law.rate
    divergence = (
        (q.shapes - c) * digamma(q.shapes)
        - gammaln(q.shapes)
        + gammaln(c)
        + c * np.log(q.rates / b)
        + q.shapes * (b - q.rates) / q.rates
    )
    expected = (q.rates - b) * q.mean  # observed features' rates
    constants = log_factorials(block)
    bound: Array = q.evidence - constants - (expected + divergence).sum(axis=1)
    return bound


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _factorised(
    starts: Indices,
    features: Indices,
    counts: Array,
    topics: Array,  # (d, k)
    prior: Array,  # (k,)
    rates: Array,  # (n, k)
    beyond: Array,  # (n,)  counts that were not recorded
    where: Array,  # (n, k)  the topics' shares of where they are
    tolerance: float,
    max_iterations: int,
    shapes: Array,  # (n, k)  written
    evidence: Array,  # (n,)  written
) -> None:  # pragma: no cover - compiled
    n_rows, k = rates.shape
    factor, pulled = np.empty(k), np.empty(k)
    for row in range(n_rows):
        total = beyond[row]
        for entry in range(starts[row], starts[row + 1]):
            total += counts[entry]
        shape = shapes[row]
        for c in range(k):
            shape[c] = prior[c] + total / k
        for _ in range(max_iterations):
            for c in range(k):
                factor[c] = np.exp(compiled_digamma(shape[c])) / rates[row, c]
                pulled[c] = 0.0
            for entry in range(starts[row], starts[row + 1]):
                _pull(counts[entry], topics[np.uint32(features[entry])], factor, pulled)
            if beyond[row] > 0:
                _pull(beyond[row], where[row], factor, pulled)
            change, size = 0.0, 0.0
            for c in range(k):
                new = prior[c] + factor[c] * pulled[c]
                change = max(change, abs(new - shape[c]))
                size += new
                shape[c] = new
            if change <= tolerance * size:
                break
        evidence[row] = 0.0
        for entry in range(starts[row], starts[row + 1]):
            mixed = _mixed(topics[np.uint32(features[entry])], factor)
            evidence[row] += counts[entry] * np.log(mixed)
        if beyond[row] > 0:
            evidence[row] += beyond[row] * np.log(_mixed(where[row], factor))


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _mixed(topic: Array, factor: Array) -> float:  # pragma: no cover - compiled
    """``Σ_k a_dk exp E[log α_k]``, of factors (k,)."""
    total = 1e-300
    for c in range(len(factor)):
        total += topic[c] * factor[c]
    return total


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _pull(
    count: float, topic: Array, factor: Array, pulled: Array
) -> None:  # pragma: no cover - compiled
    """Add what a count says of each topic's loading (k,), but for its factor."""
    each = count / _mixed(topic, factor)
    for c in range(len(factor)):
        pulled[c] += each * topic[c]


def inverse_digamma(y: Array) -> Array:
    """The x with ψ(x) = y, by Newton's method from Minka's start."""
    x = np.where(y >= -2.22, np.exp(y) + 0.5, -1 / (y - scipys_digamma(1.0)))
    for _ in range(5):
        x = x - (scipys_digamma(x) - y) / polygamma(1, x)
    return np.asarray(x)


@njit(cache=True, nogil=True)
def compiled_digamma(x: float) -> float:  # pragma: no cover - compiled
    """``ψ(x)`` for x > 0: recurrence up to eight, then the asymptotic series.

    Abramowitz and Stegun 6.3.5 and 6.3.18.
    """
    value = 0.0
    for _ in range(8):
        if x < 8.0:
            value -= 1.0 / x
            x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132)))
    )
    return value + math.log(x) - 0.5 / x - series
