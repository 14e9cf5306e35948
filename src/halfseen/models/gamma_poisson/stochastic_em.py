"""Stochastic approximation EM for gamma-Poisson topics.

Mean-field EM climbs a bound whose maximum is not the likelihood's and moves away from the truth.
Drawing the latent variables instead of approximating them does not: each sweep draws how counts
split among topics and then the loadings, and the statistics of the M-step, with what can be
integrated out integrated out (Rao-Blackwell), are averaged over sweeps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import polygamma

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.counts import Indices
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.interrupts import short_calls
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.inference.model import Convergence, EMResult
from halfseen.latent import random_streams
from halfseen.latent.loadings import MOST_SHAPE, compiled_digamma, inverse_digamma
from halfseen.latent.topic_refinement import (
    draw_split,
    mixed_with_mean,
    stochastic_em,
    topic_probabilities,
)
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters

DRAWING = 64
"""Elementary steps of splitting a count among topics, for each of them."""
BLURRED = 0.01
"""How much of every topic is what all is, where sweeps begin."""


@dataclass(frozen=True, eq=False)
class SplitSums(Sums):
    """Sums of one sweep for the M-step."""

    n_rows: float
    split: Array  # (d, k)    Σ E[count of d that came from k]
    exposure: Array  # (d, k)  Σ E[α_k] over the rows in which d is observed
    mean: Array  # (k,)       Σ E[α_k]
    log_mean: Array  # (k,)   Σ E[log α_k]

    def maximise(self) -> GammaPoissonParameters:
        """The M-step: shares are counts over exposures, loadings a gamma fit."""
        topics = self.split / np.maximum(self.exposure, np.finfo(float).tiny)  # (d, k)
        # A topic that no count comes from any more has the average for its shares.
        dead = self.split.sum(axis=0) <= 1e-9 * self.split.sum()
        average = self.split.sum(axis=1) / np.maximum(self.exposure.sum(axis=1), 1e-300)
        topics[:, dead] = average[:, None]
        lengths = topics.sum(axis=0)
        # Topics of sum one: their loadings grow by what the topics shrink.
        mean = np.maximum(self.mean, 1e-9 * self.mean.sum()) / self.n_rows
        shapes, rate = fit_gammas(mean * lengths, self.log_mean / self.n_rows + np.log(lengths))
        return GammaPoissonParameters((topics / lengths).T, np.maximum(shapes, 1e-6), rate)


def fit_gammas(mean: Array, log_mean: Array) -> tuple[Array, float]:
    """Maximum-likelihood shapes (k,) and common rate, from means of α and of log α (k,).

    ``ψ(c_k) = log b + E[log α_k]`` and ``b = Σ c_k / Σ E[α_k]``. With the shapes as functions of
    log b the second is one equation, whose slope is between -1 and 0: Newton's method is safe.
    Loadings that do not vary have no finite shape, and are given the largest there is.
    """
    target = float(np.log(mean.sum()))
    log_rate = float(np.log(len(mean))) - target
    highest = float(np.log(MOST_SHAPE)) + log_rate
    for _ in range(100):
        shapes = inverse_digamma(log_rate + log_mean)
        excess = float(np.log(shapes.sum())) - log_rate - target
        slope = float((1 / polygamma(1, shapes)).sum() / shapes.sum()) - 1
        if abs(excess) < 1e-12 or slope > -1e-8:
            break
        log_rate = min(log_rate - excess / slope, highest)
    shapes = inverse_digamma(log_rate + log_mean)
    # Loadings that hardly vary are as if they did not: shapes are scaled down together.
    too_large = float(max(shapes.max() / MOST_SHAPE, 1.0))
    return shapes / too_large, float(np.exp(log_rate)) / too_large


@dataclass(frozen=True, eq=False)
class Chains:
    """Gibbs samplers of all rows, with loadings kept between sweeps."""

    seed: int

    def begin(self, parameters: GammaPoissonParameters) -> Callable[[Block], Array]:
        """A function that returns start loadings (n, k) of a block."""

        def begin(block: Block) -> Array:
            return _first_loadings(block, parameters)

        return begin

    def sweep(
        self, parameters: GammaPoissonParameters, number: int
    ) -> Callable[[Block, Array], tuple[SplitSums, Array]]:
        """A function that moves a block's chains once and returns sums.

        Random streams belong to a sweep and a row's number, so that blocks, threads and workers,
        and their order, do not matter.
        """
        seed = np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)[0]

        def step(block: Block, loadings: Array) -> tuple[SplitSums, Array]:
            exposure = np.ascontiguousarray(
                parameters.rate + block.presence().onto(parameters.topics.T)
            )
            weights = np.ones(len(loadings)) if block.weights is None else block.weights
            counts, topics = block.nonzeros(), np.ascontiguousarray(parameters.topics.T)
            split, k = np.zeros(topics.shape), topics.shape[1]
            shapes = np.ascontiguousarray(parameters.shapes)
            mean, log_mean, moved = (np.empty_like(loadings) for _ in range(3))
            for some in short_calls(DRAWING * k * (1 + np.diff(counts.starts))):
                _sweep(
                    *counts.part(some),
                    weights[some],
                    topics,
                    shapes,
                    exposure[some],
                    loadings[some],
                    seed,
                    block.start + some.start,
                    split,
                    mean[some],
                    log_mean[some],
                    moved[some],
                )
            expected = mean * weights[:, None]
            sums = SplitSums(
                float(weights.sum()),
                split,
                block.presence().back(expected),
                expected.sum(axis=0),
                (log_mean * weights[:, None]).sum(axis=0),
            )
            return sums, moved

        return step


def _first_loadings(block: Block, parameters: GammaPoissonParameters) -> Array:
    """Start loadings: shapes, with counts spread evenly."""
    even = block.nonzeros().totals()[:, None] / len(parameters.shapes)
    rates = parameters.rate + block.presence().onto(parameters.topics.T)
    return np.ascontiguousarray((parameters.shapes + even) / rates)


def refine(
    rows: Rows, start: GammaPoissonParameters, *, seed: int, n_sweeps: int
) -> EMResult[GammaPoissonParameters]:
    """Improve ``start`` by ``n_sweeps`` sweeps."""

    def sweep(parameters: GammaPoissonParameters, number: int) -> SplitSums:
        return carried.accumulate(chains.sweep(parameters, number))

    def maximise(sums: SplitSums, before: GammaPoissonParameters) -> GammaPoissonParameters:
        return sums.maximise()

    # A share of exactly zero could never grow.
    topics = mixed_with_mean(start.topics, rows.accumulate(FeatureSums.of).mean, BLURRED)
    chains, start = Chains(seed), replace(start, topics=topics)
    carried = rows.carrying(chains.begin(start))
    parameters = stochastic_em(start, n_sweeps, sweep, maximise)
    return EMResult(parameters, Convergence(None, n_sweeps, True))


@njit(cache=True, nogil=True)
def _sweep(
    starts: Indices,
    features: Indices,
    counts: Array,
    weights: Array,  # (n,)
    topics: Array,  # (d, k)
    prior: Array,  # (k,)
    rates: Array,  # (n, k)
    loadings: Array,  # (n, k)
    seed: np.uint64,
    first: int,  # the number of the first row
    split: Array,  # (d, k)  added to, as the following are written
    mean: Array,  # (n, k)
    log_mean: Array,  # (n, k)
    moved: Array,  # (n, k)
) -> None:  # pragma: no cover - compiled
    n_rows, k = loadings.shape
    state = np.empty(1, dtype=np.uint64)
    share, shape = np.empty(k), np.empty(k)
    for row in range(n_rows):
        random_streams.start(state, seed, first + row)
        for c in range(k):
            shape[c] = prior[c]
        for entry in range(starts[row], starts[row + 1]):
            feature, count = features[entry], counts[entry]
            topic_probabilities(topics[feature], loadings[row], share)
            for c in range(k):
                split[feature, c] += weights[row] * count * share[c]
            draw_split(int(count), share, shape, state)
        for c in range(k):
            mean[row, c] = shape[c] / rates[row, c]
            log_mean[row, c] = compiled_digamma(shape[c]) - np.log(rates[row, c])
            drawn = math.exp(random_streams.log_gamma(shape[c], state)) / rates[row, c]
            moved[row, c] = max(drawn, 1e-300)
