"""Stochastic EM for latent Dirichlet allocation.

*Expected* ones (zero-order collapsed variational Bayes) share each count out among topics by
``a_kd (α_k + n_k)``, n_k being how many of the row's other items are expected in the topic. *Drawn*
ones (a Gibbs sampler) draw how counts split and then the row's shares. Items that were not recorded
split among topics too: as many as are left of a known total, or as many as the row's length is
expected or drawn to leave.

Reference
---------
A. Asuncion, M. Welling, P. Smyth, Y. Teh (2009), On smoothing and inference for topic models.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import digamma, polygamma

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.counts import Indices, Nonzeros
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.interrupts import short_calls
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.inference.model import Convergence, EMResult
from halfseen.latent import random_streams
from halfseen.latent.loadings import factorised_posterior
from halfseen.latent.topic_refinement import (
    draw_split,
    mixed_with_mean,
    stochastic_em,
    topic_probabilities,
)
from halfseen.models.lda.parameters import LdaParameters

# What a sweep over rows says of topics and of the law of their shares, and the M-step from it.
#
# Reference
# ---------
# T. Minka (2000), Estimating a Dirichlet distribution.

LEAST_ALPHA, MOST_ALPHA = 1e-4, 1e4


@dataclass(frozen=True, eq=False)
class ShareSums(Sums):
    """Sums of one sweep for the M-step."""

    n_rows: float  # in which anything is counted
    split: Array  # (d, k)    Σ E[count of d that came from k]
    exposure: Array  # (d, k)  Σ E[α_k] over the rows in which d is observed
    log_share: Array  # (k,)  Σ E[log θ_k]

    def maximise(
        self, before: LdaParameters, smoothing: float, concentration: float | None
    ) -> LdaParameters:
        """The M-step: shares are counts over exposures, with ``smoothing`` items of each feature.

        Features that fewer rows have are smoothed by as much less.
        """
        most = np.maximum(self.exposure.max(axis=0), np.finfo(float).tiny)  # (k,)
        seen = np.maximum(self.exposure / most, 1e-9)
        topics = (self.split / seen + smoothing).T  # (k, d)
        alpha = before.shapes
        if self.n_rows > 0:
            alpha = likeliest_alpha(alpha, self.log_share / self.n_rows)
        if concentration is not None:
            alpha = concentration * alpha / alpha.sum()
        normal = topics / topics.sum(axis=1, keepdims=True)
        return LdaParameters(normal, alpha, before.length_shape, before.rate)


def likeliest_alpha(alpha: Array, mean_log: Array, n_steps: int = 20) -> Array:
    """Maximum-likelihood Dirichlet parameters for means of log θ_k (k,), by Newton steps.

    A single share is one, whatever the law.
    """
    for _ in range(n_steps if len(alpha) > 1 else 0):
        slope = digamma(alpha.sum()) - digamma(alpha) + mean_log
        own, shared = -polygamma(1, alpha), polygamma(1, alpha.sum())
        common = (slope / own).sum() / (1 / shared + (1 / own).sum())
        step = np.clip((slope - common) / own, -alpha, 0.7 * alpha)  # at most so much at once
        alpha = np.clip(alpha - step, LEAST_ALPHA, MOST_ALPHA)
        if np.abs(step / alpha).max() < 1e-10:
            break
    return alpha


DRAWING = 16
"""Elementary steps of a count, for each topic."""
N_BEGINNING = 5
"""Steps, at most, to the loadings that sweeps begin with: of none topics would be led astray,
and of many they stay where the moments had them."""
LEFT = 0.05
"""Of a feature's share in a topic, at least, without one item."""
NOTHING = 1e-12
"""Of a topic that is outside of what a row recorded: no more than rounding leaves."""
Step = Callable[[Block, Array], tuple[ShareSums, Array]]
"""Moves a block's loadings (n, k) once, and sums what they say."""


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Sweeps over rows, with loadings kept between them."""

    seed: int
    totals: Array | None = None  # (n,)  of all rows, by number, if they are known

    def begin(self, parameters: LdaParameters) -> Callable[[Block], Array]:
        """A function that returns start loadings (n, k) of a block."""

        def begin(block: Block) -> Array:
            close = factorised_posterior(block, parameters, None, 1e-3, N_BEGINNING)
            return np.ascontiguousarray(close.mean)

        return begin

    def expected(self, parameters: LdaParameters, own: Array) -> Step:
        """A sweep of expectations; ``own`` (k,) is the share of one item in each topic."""
        topics, prior = _for_kernels(parameters)
        whole = topics.sum(axis=0)

        def step(block: Block, loadings: Array) -> tuple[ShareSums, Array]:
            counts, found = block.nonzeros(), np.zeros(loadings.shape)
            split, weights = np.zeros(topics.shape), _weights(block)
            for some in _pieces(counts, loadings):
                rows = counts.part(some), weights[some], loadings[some], found[some]
                _share_out(*rows[0], *rows[1:], topics, prior, own, split)
            where = _unrecorded_shares(block, topics, whole)
            missing = (loadings * where).sum(axis=1)  # (n,)
            if missing.any():
                some = missing > 0
                left = self._expected_rest(block, counts, parameters, loadings, missing)
                parts = loadings[some] * where[some] / missing[some, None]
                found[some] += left[some, None] * parts
            return _summed(block, counts, parameters, split, found), found

        return step

    def drawn(self, parameters: LdaParameters, number: int) -> Step:
        """A sweep of draws.

        Random streams belong to a sweep and a row's number, so that blocks, threads and workers,
        and their order, do not matter.
        """
        seeds = np.random.SeedSequence([self.seed, number]).generate_state(3, np.uint64)
        topics, prior = _for_kernels(parameters)
        whole, length = topics.sum(axis=0), (parameters.length_shape, parameters.rate)

        def step(block: Block, loadings: Array) -> tuple[ShareSums, Array]:
            counts, found = block.nonzeros(), np.zeros(loadings.shape)
            split, weights = np.zeros(topics.shape), _weights(block)
            for some in _pieces(counts, loadings):
                rows = counts.part(some), weights[some], loadings[some], found[some]
                first = block.start + some.start
                _draw_splits(*rows[0], *rows[1:], topics, seeds[0], first, split)
            where = _unrecorded_shares(block, topics, whole)
            if where.any():
                left = self._left(block, counts)
                _draw_rest(loadings, where, left, seeds[1], block.start, found)
            moved = np.empty(loadings.shape)
            _draw_loadings(found, prior, *length, seeds[2], block.start, moved)
            return _summed(block, counts, parameters, split, found), moved

        return step

    def _left(self, block: Block, counts: Nonzeros) -> Array:
        """Unrecorded totals of rows, negative if unknown; (n,)."""
        if self.totals is None:
            return np.full(len(block), -1.0)
        known = self.totals[block.start : block.start + len(block)]
        return np.maximum(known - counts.totals(), 0.0)

    def _expected_rest(
        self,
        block: Block,
        counts: Nonzeros,
        parameters: LdaParameters,
        loadings: Array,
        missing: Array,
    ) -> Array:
        """Expected unrecorded items of rows, given rates ``missing`` (n,); (n,)."""
        if self.totals is not None:
            return self._left(block, counts)
        part = missing / np.maximum(loadings.sum(axis=1), 1e-300)
        length = parameters.length_shape + counts.totals()
        expected: Array = length * part / (parameters.rate + 1.0 - part)
        return expected


def _for_kernels(parameters: LdaParameters) -> tuple[Array, Array]:
    """Topics (d, k) and expected shares (k,), in memory order for kernels."""
    return np.ascontiguousarray(parameters.topics.T), np.ascontiguousarray(parameters.shapes)


def _weights(block: Block) -> Array:
    return np.ones(len(block)) if block.weights is None else block.weights


def _pieces(counts: Nonzeros, loadings: Array) -> list[slice]:
    return list(short_calls(DRAWING * loadings.shape[1] * (1.0 + np.diff(counts.starts))))


def _unrecorded_shares(block: Block, topics: Array, whole: Array) -> Array:
    """Shares of topics (d, k) on unobserved features of rows; (n, k)."""
    left = whole - block.presence().onto(topics)
    left[left < NOTHING] = 0.0
    return np.ascontiguousarray(left)


def _summed(
    block: Block, counts: Nonzeros, parameters: LdaParameters, split: Array, found: Array
) -> ShareSums:
    """Sums of rows with ``found`` (n, k) items in topics."""
    shapes, total = parameters.shapes + found, found.sum(axis=1)
    size = parameters.shapes.sum() + total
    in_all = (parameters.length_shape + total) / (parameters.rate + 1.0)
    weights = _weights(block)
    counted = weights * (np.diff(counts.starts) > 0)
    return ShareSums(
        float(counted.sum()),
        split,
        block.presence().back(shapes * (weights * in_all / size)[:, None]),
        counted @ (digamma(shapes) - digamma(size)[:, None]),
    )


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _share_out(
    starts: Indices,
    features: Indices,
    counts: Array,
    weights: Array,  # (n,)
    held: Array,  # (n, k)  items of rows, as shared out so far
    found: Array,  # (n, k)  written
    topics: Array,  # (d, k)
    prior: Array,  # (k,)
    own: Array,  # (k,)  the share of one item in each topic
    split: Array,  # (d, k)  added to
) -> None:  # pragma: no cover - compiled
    """Distribute counts over topics, each without one of its own items.

    That one is neither among the row's items nor among those that topics are made of.
    """
    k = len(prior)
    share, mine, pull, sums = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    for row in range(len(held)):
        for c in range(k):
            mine[c], sums[c] = held[row, c], 0.0
            pull[c] = prior[c] + mine[c]
        for entry in range(starts[row], starts[row + 1]):
            feature = np.uint32(features[entry])
            total = 1e-300
            for c in range(k):
                share[c] = topics[feature, c] * pull[c]
                total += share[c]
            each = 1.0 / total
            total = 1e-300
            for c in range(k):
                one, topic = share[c] * each, topics[feature, c]
                less, least = topic - one * own[c], LEFT * topic
                less = less if less > least else least
                one = one if one < mine[c] else mine[c]
                share[c] = less * (pull[c] - one)
                total += share[c]
            each = counts[entry] / total
            for c in range(k):
                part = share[c] * each
                sums[c] += part
                split[feature, c] += weights[row] * part
        for c in range(k):
            found[row, c] = sums[c]


@njit(cache=True, nogil=True)
def _draw_splits(
    starts: Indices,
    features: Indices,
    counts: Array,
    weights: Array,  # (n,)
    loadings: Array,  # (n, k)
    found: Array,  # (n, k)  added to
    topics: Array,  # (d, k)
    seed: np.uint64,
    first: int,  # the number of the first row
    split: Array,  # (d, k)  added to
) -> None:  # pragma: no cover - compiled
    """Draw how counts split among topics."""
    k = loadings.shape[1]
    state, share = np.empty(1, dtype=np.uint64), np.empty(k)
    for row in range(len(loadings)):
        random_streams.start(state, seed, first + row)
        for entry in range(starts[row], starts[row + 1]):
            feature, count = np.uint32(features[entry]), counts[entry]
            topic_probabilities(topics[feature], loadings[row], share)
            for c in range(k):
                split[feature, c] += weights[row] * count * share[c]
            draw_split(int(count), share, found[row], state)


@njit(cache=True, nogil=True)
def _draw_rest(
    loadings: Array,  # (n, k)
    where: Array,  # (n, k)  shares of topics in what rows do not have
    left: Array,  # (n,)    items there, or less than zero
    seed: np.uint64,
    first: int,
    found: Array,  # (n, k)  added to
) -> None:  # pragma: no cover - compiled
    """Draw unrecorded items, if unknown, and their split among topics."""
    state, share = np.empty(1, dtype=np.uint64), np.empty(loadings.shape[1])
    for row in range(len(loadings)):
        random_streams.start(state, seed, first + row)
        missing = (loadings[row] * where[row]).sum()
        if missing > 0.0:
            topic_probabilities(where[row], loadings[row], share)
            known = left[row] >= 0.0
            number = int(left[row]) if known else random_streams.poisson(missing, state)
            draw_split(number, share, found[row], state)


@njit(cache=True, nogil=True)
def _draw_loadings(
    found: Array,  # (n, k)
    prior: Array,  # (k,)
    length_shape: float,
    length_rate: float,
    seed: np.uint64,
    first: int,
    moved: Array,  # (n, k)  written
) -> None:  # pragma: no cover - compiled
    """Draw shares given items by topic, and lengths."""
    state = np.empty(1, dtype=np.uint64)
    for row in range(len(found)):
        random_streams.start(state, seed, first + row)
        for c in range(len(prior)):
            drawn = math.exp(random_streams.log_gamma(prior[c] + found[row, c], state))
            moved[row, c] = max(drawn, 1e-300)
        shape = length_shape + found[row].sum()
        length = math.exp(random_streams.log_gamma(shape, state)) / (length_rate + 1.0)
        moved[row] *= max(length, 1e-300) / moved[row].sum()


# Refine topics by what they say of rows: first by expectations, then by draws.
#
# Sweeps of expectations go far in a few sweeps; draws have no bias to leave, and are averaged.

FEWER = 10
"""In text sweeps are of expectations, and so many times fewer of draws follow: of more, held-out
words are less likely. Elsewhere moments are a better start than expectations."""
BLURRED, SOFTENED = 0.01, 0.95
"""How much of every topic is what all is, where sweeps begin: a little, as a share of exactly zero
could never grow, and nearly all of it in text, where moments make topics of single odd rows. So
softened they led to held-out words as likely as the best of five random starts did, or likelier (of
posts, five splits that this was set on: perplexity 117.8, and 118.2 to 120.2)."""


def refine(
    rows: Rows,
    start: LdaParameters,
    *,
    seed: int,
    n_sweeps: int,
    smoothing: float,
    concentration: float | None = None,
    totals: Array | None = None,
    text: bool = True,
) -> EMResult[LdaParameters]:
    """Improve ``start`` by ``n_sweeps`` of draws; text uses mostly expectations."""

    def maximise(sums: ShareSums, before: LdaParameters) -> LdaParameters:
        return sums.maximise(before, smoothing, concentration)

    def drawn(parameters: LdaParameters, number: int) -> ShareSums:
        return carried.accumulate(sweeps.drawn(parameters, number))

    sweeps, parameters = Sweeps(seed, totals), _begun(rows, start, SOFTENED if text else BLURRED)
    carried = rows.carrying(sweeps.begin(parameters))
    n_expected, own = (n_sweeps if text else 0), np.zeros(len(parameters.shapes))
    for _ in range(n_expected):
        sums = carried.accumulate(sweeps.expected(parameters, own))
        parameters = maximise(sums, parameters)
        own = 1 / np.maximum(sums.split.sum(axis=0) + smoothing * len(sums.split), 1.0)
    n_drawn = max(n_sweeps // FEWER, 1) if text else n_sweeps
    parameters = stochastic_em(parameters, n_drawn, drawn, maximise)
    return EMResult(parameters, Convergence(None, n_expected + n_drawn, True))


def _begun(rows: Rows, start: LdaParameters, share: float) -> LdaParameters:
    """Topics without impossible features, and shares away from zero."""
    topics = mixed_with_mean(start.topics, rows.accumulate(FeatureSums.of).mean, share)
    return replace(start, topics=topics, shapes=np.clip(start.shapes, LEAST_ALPHA, MOST_ALPHA))
