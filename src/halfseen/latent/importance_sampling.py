"""Likelihoods of counts and posteriors of loadings by importance sampling.

In u = log α the posterior of the loadings has one mode. Where a topic is surely there it is close
to normal; where a topic may be absent it has the long lower tail of a small gamma. Half of the
draws are from a t distribution at the mode, half from gammas that match the mean-field posterior,
as it is and with three times its variance; weighting them by posterior over mixture of proposals
gives likelihoods that are unbiased for a fixed number of draws, and nearly so here, where rows
that need more get more. If the law has more than independent gammas, the total ``T = Σ r_k α_k``
of the latter is drawn anew: whatever its shares are, it is a gamma of shape ``g + Σ x``.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.counts import Indices
from halfseen.data.interrupts import short_calls
from halfseen.data.rows import Block
from halfseen.latent import random_streams
from halfseen.latent.loadings import LoadingPrior, Rest, factorised_posterior, log_factorials

DEGREES = 2.0  # of freedom of the t distribution
WIDER = 3.0  # how much more variance the wider gammas have
N_DRAWS = 512  # at first
MOST_DRAWS = 4096  # while they are worth fewer than ENOUGH independent ones
ENOUGH = 100.0
MOST_CLIMBED = 500  # steps to the mode
HIDDEN = 1e-12  # of the largest precision: what rounding hides
LARGE = 1618.0339887498949  # rates of which more than millionths is rounding; no round one
SHIFT = 6.180339887498949e-4  # of a millionth: less than what is round, and more than rounding


class ImportanceSample(NamedTuple):
    """Estimated log-likelihood, and the posterior of loadings, of each row."""

    log_likelihood: Array  # (n,)
    standard_error: Array  # (n,)  of the log-likelihood
    effective_draws: Array  # (n,)
    mean: Array  # (n, k)          posterior means of the loadings
    covariance: Array  # (n, k, k)
    draws: Array  # (n, m, k)      loadings drawn from the posterior


def importance_sample(
    block: Block,
    law: LoadingPrior,
    seed: int,
    n_posterior_draws: int = 0,
    rest: Rest | None = None,
) -> ImportanceSample:
    """Sample the loadings of each row given its observed counts, and its rest if known."""
    close = factorised_posterior(block, law, rest)
    # Rows that are alike share their likelihood's draws, but not their posterior's.
    chances = np.random.default_rng([seed, block.start]).random((len(block), n_posterior_draws))
    counts, topics = block.nonzeros(), np.ascontiguousarray(law.topics.T)
    prior = np.ascontiguousarray(law.shapes)
    n, k = close.shapes.shape
    beyond = Rest.none(n, k) if rest is None else rest
    log_likelihood, error, effective = (np.empty(n) for _ in range(3))
    mean, covariance = np.zeros((n, k)), np.zeros((n, k, k))
    draws = np.empty((n, n_posterior_draws, k))
    steps = k * (MOST_DRAWS + MOST_CLIMBED * k) * (1.0 + np.diff(counts.starts))
    for some in short_calls(steps):
        _sample(
            *counts.part(some),
            topics,
            prior,
            law.extra,
            close.shapes[some],
            close.rates[some],
            beyond.counts[some],
            beyond.shares[some],
            chances[some],
            np.uint64(seed),
            log_likelihood[some],
            error[some],
            effective[some],
            mean[some],
            covariance[some],
            draws[some],
        )
    log_likelihood += _log_constant(law) - log_factorials(block)
    if rest is not None:
        log_likelihood -= gammaln(rest.counts + 1)
    return ImportanceSample(log_likelihood, error, effective, mean, covariance, draws)


def _log_constant(law: LoadingPrior) -> float:
    """The constant in the logarithm of the prior's density."""
    prior = law.shapes * np.log(law.rate) - gammaln(law.shapes)
    if law.extra == 0:
        return float(prior.sum())
    total = law.shapes.sum()
    more = gammaln(total) - gammaln(total + law.extra) + law.extra * np.log(law.rate)
    return float(prior.sum() + more)


@njit(cache=True, nogil=True)
def _log_joint(
    u: Array,
    features: Indices,
    counts: Array,
    topics: Array,
    prior: Array,
    extra: float,
    rates: Array,
    beyond: float,
    where: Array,
) -> float:  # pragma: no cover - compiled
    """``Σ_d x_d log Σ_k a_dk e^{u_k} + Σ_k (c_k u_k - r_k e^{u_k}) + (g - Σ c) log Σ_k e^{u_k}``.

    Up to constants; what is known ``beyond`` the counts is one more of them.
    """
    loading = np.exp(u)
    total = 0.0
    for c in range(len(u)):
        total += prior[c] * u[c] - rates[c] * loading[c]
    for entry in range(len(counts)):
        rate = 0.0
        for c in range(len(u)):
            rate += topics[features[entry], c] * loading[c]
        total += counts[entry] * math.log(max(rate, 1e-300))
    if extra != 0.0:
        total += extra * math.log(max(loading.sum(), 1e-300))
    if beyond > 0.0:
        total += beyond * math.log(max((where * loading).sum(), 1e-300))
    return total


@njit(cache=True, nogil=True)
def _mode(
    features: Indices,
    counts: Array,
    topics: Array,
    prior: Array,
    extra: float,
    start: Array,
    rates: Array,
    beyond: float,
    where: Array,
) -> tuple[Array, Array]:  # pragma: no cover - compiled
    """The mode in u = log α, and the root L of the precision there (P = L L').

    What is extra in the law moves the total alone, if rates are alike: elsewhere the place is near.
    """
    k = len(prior)
    loading = start / rates
    share, new = np.empty(k), np.empty(k)
    precision = np.zeros((k, k))
    counted = counts.sum() + beyond
    near = 0.02 / math.sqrt(1 + counted)  # a small part of the narrowest spread
    for _ in range(MOST_CLIMBED):
        # α_k r_k = c_k + Σ_d x_d φ_dk at the mode: iterate it, and it climbs.
        for c in range(k):
            new[c] = prior[c]
        precision[:] = 0.0
        for entry in range(len(counts)):
            rate = 1e-300
            for c in range(k):
                share[c] = topics[features[entry], c] * loading[c]
                rate += share[c]
            for c in range(k):
                share[c] /= rate
                new[c] += counts[entry] * share[c]
            for a in range(k):
                for b in range(a + 1):
                    precision[a, b] += counts[entry] * share[a] * share[b]
        if beyond > 0.0:
            share[:] = where * loading
            share /= max(share.sum(), 1e-300)
            new += beyond * share
            for a in range(k):
                for b in range(a + 1):
                    precision[a, b] += beyond * share[a] * share[b]
        new /= rates
        change = np.abs(np.log(new / loading)).max()
        for c in range(k):
            loading[c] = new[c]
        if change < near:
            break
    if extra != 0.0:
        held = prior.sum() + counted
        loading *= (held + extra) / held
        share[:] = loading / loading.sum()
        for a in range(k):
            for b in range(a + 1):
                precision[a, b] += max(extra, 0.0) * share[a] * share[b]
    # Wild counts hide a weak prior by rounding; what is drawn is weighed by how it was drawn.
    some = HIDDEN * np.diag(precision).max()
    for a in range(k):
        precision[a, a] += prior[a] + some
        for b in range(a):
            precision[b, a] = precision[a, b]
    root = np.linalg.cholesky(precision).astype(np.float64)
    return np.log(loading), root


@njit(cache=True, nogil=True)
def _seed(
    features: Indices, counts: Array, rates: Array, beyond: float, seed: np.uint64
) -> random_streams.State:  # pragma: no cover - compiled
    """A seed that depends on the row's contents only (Fowler, Noll and Vo's hash).

    Rates tell where its gaps are. They are known to rounding only, so their millionths are not cut
    where round numbers are, nor where they have none.
    """
    state = np.empty(1, dtype=np.uint64)
    mixed = np.uint64(14695981039346656037) ^ seed
    prime = np.uint64(1099511628211)
    for entry in range(len(counts)):
        mixed = (mixed ^ np.uint64(features[entry] + 1)) * prime
        mixed = (mixed ^ np.uint64(counts[entry])) * prime
    if beyond > 0.0:
        mixed = (mixed ^ np.uint64(beyond)) * prime
    for c in range(len(rates)):
        size = rates[c] if rates[c] < LARGE else 1e3 * math.log(rates[c])
        mixed = (mixed ^ np.uint64(1e6 * size + SHIFT)) * prime
    state[0] = mixed
    return state


@njit(cache=True, nogil=True)
def _gamma_density(
    u: Array, shapes: Array, rates: Array, extra: float, shrink: float, constant: float
) -> float:  # pragma: no cover - compiled
    """Log-density in u of independent gammas of ``shapes / shrink`` and ``rates / shrink``.

    With their total drawn anew, if the law has something extra.
    """
    total, sized = constant, 0.0
    for c in range(len(u)):
        size = rates[c] * math.exp(u[c])
        sized += size
        total += (shapes[c] * u[c] - size) / shrink
    if extra != 0.0:
        total += extra / shrink * math.log(max(sized / shrink, 1e-300))
    return total


@njit(cache=True, nogil=True)
def _gamma_constant(
    shapes: Array, rates: Array, extra: float, shrink: float
) -> float:  # pragma: no cover - compiled
    total = 0.0
    for c in range(len(shapes)):
        total += shapes[c] / shrink * math.log(rates[c] / shrink) - math.lgamma(shapes[c] / shrink)
    if extra != 0.0:
        held = shapes.sum()
        total += math.lgamma(held / shrink) - math.lgamma((held + extra) / shrink)
    return total


@njit(cache=True, nogil=True)
def _draw(
    kind: int,
    mode: Array,
    back: Array,
    shapes: Array,
    rates: Array,
    extra: float,
    state: random_streams.State,
) -> Array:  # pragma: no cover - compiled
    """One u: of the t distribution (kinds 0 and 1), the gammas (2) or the wider ones (3)."""
    k = len(mode)
    u = np.empty(k)
    if kind < 2:
        # A chi-squared of two degrees of freedom is -2 log U.
        stretch = 1 / math.sqrt(-math.log(random_streams.uniform(state)))
        for c in range(k):
            u[c] = random_streams.normal(state) * stretch
        u = mode + u @ back
        return np.minimum(u, 300.0)  # no posterior reaches there; exp would overflow
    shrink = 1.0 if kind == 2 else WIDER
    for c in range(k):
        u[c] = random_streams.log_gamma(shapes[c] / shrink, state) - math.log(rates[c] / shrink)
    if extra != 0.0:
        sized = (rates * np.exp(u)).sum() / shrink
        drawn = random_streams.log_gamma((shapes.sum() + extra) / shrink, state)
        u += drawn - math.log(max(sized, 1e-300))
    return u


@njit(cache=True, nogil=True)
def _log_mixture(at_mode: float, close: float, wide: float) -> float:  # pragma: no cover - compiled
    """Log-density of the proposals' mixture, from those of its three parts."""
    top = max(at_mode, close, wide)
    return top + math.log(
        0.5 * math.exp(at_mode - top) + 0.25 * math.exp(close - top) + 0.25 * math.exp(wide - top)
    )


@njit(cache=True, nogil=True)
def _add_moments(
    weights: Array, loadings: Array, mean: Array, covariance: Array
) -> None:  # pragma: no cover - compiled
    """Weighted mean (k,) and covariance (k, k) of the draws, added to zeros in place."""
    k = len(mean)
    for draw in range(len(weights)):
        for c in range(k):
            mean[c] += weights[draw] * loadings[draw, c]
    away = np.empty(k)
    for draw in range(len(weights)):
        for c in range(k):
            away[c] = loadings[draw, c] - mean[c]
        for a in range(k):
            for b in range(k):
                covariance[a, b] += weights[draw] * away[a] * away[b]


@njit(cache=True, nogil=True)
def _sample(
    starts: Indices,
    all_features: Indices,
    all_counts: Array,
    topics: Array,  # (d, k)
    prior: Array,  # (k,)
    extra: float,
    all_shapes: Array,  # (n, k)  of the mean-field posterior
    all_rates: Array,  # (n, k)
    all_beyond: Array,  # (n,)
    all_where: Array,  # (n, k)
    chances: Array,  # (n, m)
    seed: np.uint64,
    log_likelihood: Array,  # (n,)  written, as all that follow
    error: Array,  # (n,)
    effective: Array,  # (n,)
    mean: Array,  # (n, k)  zeros at first
    covariance: Array,  # (n, k, k)  zeros at first
    wanted: Array,  # (n, m, k)
) -> None:  # pragma: no cover - compiled
    n_rows, k = all_rates.shape
    n_wanted = chances.shape[1]
    log_weights, loadings = np.empty(MOST_DRAWS), np.empty((MOST_DRAWS, k))
    half = 0.5 * (DEGREES + k)
    scale = math.lgamma(half) - math.lgamma(0.5 * DEGREES) - 0.5 * k * math.log(DEGREES * math.pi)
    for row in range(n_rows):
        part = slice(starts[row], starts[row + 1])
        features, counts = all_features[part], all_counts[part]
        shapes, rates = all_shapes[row], all_rates[row]
        beyond, where = all_beyond[row], all_where[row]
        mode, root = _mode(features, counts, topics, prior, extra, shapes, rates, beyond, where)
        back = np.linalg.inv(root).astype(np.float64)  # u = mode + (L')⁻¹ t
        t_constant = scale
        for c in range(k):
            t_constant += math.log(root[c, c])
        constant = _gamma_constant(shapes, rates, extra, 1.0)
        wide_constant = _gamma_constant(shapes, rates, extra, WIDER)
        state = _seed(features, counts, rates, beyond, seed)
        n_draws, goal = 0, N_DRAWS
        while goal <= MOST_DRAWS:  # it doubles
            while n_draws < goal:
                u = _draw(n_draws % 4, mode, back, shapes, rates, extra, state)
                t = (u - mode) @ root
                proposal = _log_mixture(
                    t_constant - half * math.log(1 + (t * t).sum() / DEGREES),
                    _gamma_density(u, shapes, rates, extra, 1.0, constant),
                    _gamma_density(u, shapes, rates, extra, WIDER, wide_constant),
                )
                log_weights[n_draws] = (
                    _log_joint(u, features, counts, topics, prior, extra, rates, beyond, where)
                    - proposal
                )
                for c in range(k):
                    loadings[n_draws, c] = math.exp(u[c])
                n_draws += 1
            highest = log_weights[:n_draws].max()
            weights = np.exp(log_weights[:n_draws] - highest)
            total = weights.sum()
            effective[row] = total**2 / (weights**2).sum()
            if effective[row] >= ENOUGH:
                break
            goal *= 2
        log_likelihood[row] = highest + math.log(total / n_draws)
        weights /= total
        away_from_even = ((weights - 1 / n_draws) ** 2).sum()
        error[row] = math.sqrt(away_from_even * n_draws / (n_draws - 1))
        _add_moments(weights, loadings, mean[row], covariance[row])
        cumulative = np.cumsum(weights)
        for m in range(n_wanted):
            chosen = np.searchsorted(cumulative, chances[row, m] * cumulative[-1])
            for c in range(k):
                wanted[row, m, c] = loadings[min(chosen, n_draws - 1), c]
