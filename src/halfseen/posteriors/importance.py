"""Gamma-Poisson likelihoods and posteriors by importance sampling, with their own error.

In u = log α the posterior of the loadings has one mode and is close to normal there; draws from a
t distribution about that mode, weighted by posterior over proposal, give unbiased likelihoods.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.special import gammaln

from halfseen.core.arrays import Array
from halfseen.core.gamma_poisson_parameters import GammaPoissonParameters
from halfseen.core.rows import Block
from halfseen.posteriors.nonzeros import Indices, Nonzeros, exposures

DEGREES = 2.0  # of freedom of the proposal: a topic that may be absent has a long lower tail
N_DRAWS = 512
POOL = 64 * N_DRAWS
"""Rows take their draws from a shared pool, each from a place that only its counts decide, so that
a row has the same likelihood alone, among others and in any order."""


class ImportanceSample(NamedTuple):
    """Of each row: the likelihood of its observed counts, and the posterior of its loadings."""

    log_likelihood: Array  # (n,)
    standard_error: Array  # (n,)  of the log-likelihood
    effective_draws: Array  # (n,)
    mean: Array  # (n, k)          posterior means of the loadings
    covariance: Array  # (n, k, k)
    draws: Array  # (n, m, k)      loadings drawn from the posterior


def importance_sample(
    block: Block, parameters: GammaPoissonParameters, seed: int, n_posterior_draws: int = 0
) -> ImportanceSample:
    """Sample the loadings of each row given its observed counts."""
    k = len(parameters.shapes)
    generator = np.random.default_rng(seed)
    normal = generator.standard_normal((POOL, k))
    pool = normal * np.sqrt(DEGREES / generator.chisquare(DEGREES, POOL))[:, None]
    # Rows that are alike share their likelihood's draws, but not their posterior's.
    uniform = np.random.default_rng([seed, block.start]).random(
        (len(block.values), n_posterior_draws)
    )
    constants = gammaln(block.values + 1).sum(axis=1)
    prior = float((parameters.shapes * np.log(parameters.rate) - gammaln(parameters.shapes)).sum())
    sampled = _sample(
        *Nonzeros.of(block),
        np.ascontiguousarray(parameters.topics.T),
        parameters.shapes,
        parameters.rate + exposures(block, parameters.topics),
        pool,
        uniform,
    )
    log_likelihood, *rest = sampled
    return ImportanceSample(log_likelihood + prior - constants, *rest)


@njit(cache=True, nogil=True)
def _log_joint(
    u: Array, features: Indices, counts: Array, topics: Array, prior: Array, rates: Array
) -> float:  # pragma: no cover - compiled
    """``Σ_d x_d log Σ_k a_dk e^{u_k} + Σ_k (c_k u_k - r_k e^{u_k})``, up to constants."""
    k = len(prior)
    total = 0.0
    for c in range(k):
        total += prior[c] * u[c] - rates[c] * math.exp(u[c])
    for entry in range(len(counts)):
        rate = 0.0
        for c in range(k):
            rate += topics[features[entry], c] * math.exp(u[c])
        total += counts[entry] * math.log(max(rate, 1e-300))
    return total


@njit(cache=True, nogil=True)
def _mode(
    features: Indices, counts: Array, topics: Array, prior: Array, rates: Array
) -> tuple[Array, Array]:  # pragma: no cover - compiled
    """The mode in u = log α, and the root L of the precision there (P = L L')."""
    k = len(prior)
    loading = (prior + counts.sum() / k) / rates
    shares, new = np.empty(k), np.empty(k)
    precision = np.zeros((k, k))
    for _ in range(500):
        # α_k r_k = c_k + Σ_d x_d φ_dk at the mode: iterate it, and it climbs.
        new[:] = prior
        precision[:] = 0.0
        for entry in range(len(counts)):
            rate = 1e-300
            for c in range(k):
                shares[c] = topics[features[entry], c] * loading[c]
                rate += shares[c]
            for c in range(k):
                shares[c] /= rate
                new[c] += counts[entry] * shares[c]
            for a in range(k):
                for b in range(a + 1):
                    precision[a, b] += counts[entry] * shares[a] * shares[b]
        new /= rates
        change = np.abs(np.log(new / loading)).max()
        loading[:] = new
        if change < 1e-4:
            break
    for a in range(k):
        precision[a, a] += prior[a]
        for b in range(a):
            precision[b, a] = precision[a, b]
    root = np.linalg.cholesky(precision).astype(np.float64)
    return np.log(loading), root


@njit(cache=True, nogil=True)
def _place(features: Indices, counts: Array, rates: Array, size: int) -> int:
    # pragma: no cover - compiled
    """A place in the pool that depends on nothing but the row (Fowler, Noll and Vo's hash)."""
    mixed = np.uint64(14695981039346656037)
    prime = np.uint64(1099511628211)
    for entry in range(len(counts)):
        mixed = (mixed ^ np.uint64(features[entry] + 1)) * prime
        mixed = (mixed ^ np.uint64(counts[entry])) * prime
    for c in range(len(rates)):
        mixed = (mixed ^ np.uint64(rates[c] * 1e6)) * prime
    return int(mixed % np.uint64(size))


@njit(cache=True, nogil=True)
def _sample(
    starts: Indices,
    all_features: Indices,
    all_counts: Array,
    topics: Array,  # (d, k)
    prior: Array,  # (k,)
    all_rates: Array,  # (n, k)
    pool: Array,  # (p, k)
    uniform: Array,  # (n, m)
) -> tuple[Array, Array, Array, Array, Array, Array]:  # pragma: no cover - compiled
    n_rows, k = all_rates.shape
    n_pool, n_wanted = len(pool), uniform.shape[1]
    log_likelihood, error, effective = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    mean, covariance = np.zeros((n_rows, k)), np.zeros((n_rows, k, k))
    wanted = np.empty((n_rows, n_wanted, k))
    log_weights, loadings = np.empty(N_DRAWS), np.empty((N_DRAWS, k))
    half = 0.5 * (DEGREES + k)
    scale = math.lgamma(half) - math.lgamma(0.5 * DEGREES) - 0.5 * k * math.log(DEGREES * math.pi)
    for row in range(n_rows):
        part = slice(starts[row], starts[row + 1])
        features, counts, rates = all_features[part], all_counts[part], all_rates[row]
        mode, root = _mode(features, counts, topics, prior, rates)
        back = np.linalg.inv(root)  # x = (L')⁻¹ t
        log_determinant = 0.0
        for c in range(k):
            log_determinant += math.log(root[c, c])
        place = _place(features, counts, rates, n_pool)
        for draw in range(N_DRAWS):
            t = pool[(place + draw) % n_pool]
            u = np.minimum(mode + t @ back, 50.0)  # no posterior reaches there; exp would overflow
            for c in range(k):
                loadings[draw, c] = math.exp(u[c])
            proposal = scale + log_determinant - half * math.log(1 + (t * t).sum() / DEGREES)
            log_weights[draw] = _log_joint(u, features, counts, topics, prior, rates) - proposal
        highest = log_weights.max()
        weights = np.exp(log_weights - highest)
        total = weights.sum()
        log_likelihood[row] = highest + math.log(total / N_DRAWS)
        weights /= total
        error[row] = math.sqrt(((weights - 1 / N_DRAWS) ** 2).sum() * N_DRAWS / (N_DRAWS - 1))
        effective[row] = 1 / (weights**2).sum()
        for draw in range(N_DRAWS):
            mean[row] += weights[draw] * loadings[draw]
        for draw in range(N_DRAWS):
            away = loadings[draw] - mean[row]
            for a in range(k):
                for b in range(k):
                    covariance[row, a, b] += weights[draw] * away[a] * away[b]
        cumulative = np.cumsum(weights)
        for m in range(n_wanted):
            chosen = np.searchsorted(cumulative, uniform[row, m] * cumulative[-1])
            wanted[row, m] = loadings[min(chosen, N_DRAWS - 1)]
    return log_likelihood, error, effective, mean, covariance, wanted
