"""Polish topics by what they say of rows: first by expectations, then by draws.

Two kinds of sweeps over the rows. *Expected* ones (zero-order collapsed variational Bayes) share
each count out among topics by ``a_kd (α_k + n_k)``, n_k being how many of the row's other items are
expected in the topic; they go far in a few sweeps. *Drawn* ones (stochastic approximation EM) draw
how counts split and then the row's shares, which has no bias to leave, and average over sweeps.

Items that were not recorded split among topics too: as many as are left of a known total, or as
many as the row's length is drawn to leave.

References
----------
A. Asuncion, M. Welling, P. Smyth, Y. Teh (2009), On smoothing and inference for topic models.
B. Delyon, M. Lavielle, E. Moulines (1999), Convergence of a stochastic approximation version of the
EM algorithm. T. Minka (2000), Estimating a Dirichlet distribution.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import digamma, polygamma

from halfseen.method.model import Climb, Polished
from halfseen.models.lda.parameters import LdaParameters
from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.nonzeros import Indices
from halfseen.rows.rows import Block, Rows
from halfseen.rows.short_calls import short_calls
from halfseen.structures.loadings import row_random, special
from halfseen.structures.loadings.posterior import factorised_posterior
from halfseen.structures.loadings.splits import draw_split, shared_out

FEWER = 10
"""In text sweeps are of expectations, and so many times fewer of draws follow: of more, held-out
words are less likely. Elsewhere moments are a better start than expectations."""
DRAWING = 16
"""Elementary steps of a count, for each topic."""
UNKNOWN = -1.0
"""The total of a row of which it is not known."""
N_BEGINNING = 50
"""Steps, at most, to the loadings that sweeps begin with: others would lead topics astray."""
LEFT = 0.05
"""Of a feature's share in a topic, at least, without one item."""
LEAST_ALPHA, MOST_ALPHA = 1e-4, 1e4
BLURRED, SOFTENED = 0.01, 0.8
"""How much of every topic is what all is, where sweeps begin: a little, as a share of exactly zero
could never grow, and most of it in text, where moments make topics of single odd rows."""


@dataclass(frozen=True, eq=False)
class ShareSums:
    """What the M-step needs of one sweep, by weight of the rows."""

    n_rows: float  # in which anything is counted
    split: Array  # (d, k)    Σ E[count of d that came from k]
    exposure: Array  # (d, k)  Σ E[α_k] over the rows in which d is observed
    log_share: Array  # (k,)  Σ E[log θ_k]

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.split + other.split,
            self.exposure + other.exposure,
            self.log_share + other.log_share,
        )

    def towards(self, other: Self, step: float) -> Self:
        """A step of stochastic approximation from these sums to other ones of the same rows."""
        return type(self)(
            self.n_rows,
            self.split + step * (other.split - self.split),
            self.exposure + step * (other.exposure - self.exposure),
            self.log_share + step * (other.log_share - self.log_share),
        )

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
    """Of a Dirichlet law with such means of log θ_k (k,), by Newton from ``alpha`` (k,).

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


@dataclass(frozen=True, eq=False)
class Sweeps:
    """Sweeps over rows, whose loadings are kept with them between sweeps."""

    seed: int
    totals: Array | None = None  # (n,)  of all rows, by number, if they are known

    def begin(self, parameters: LdaParameters) -> Callable[[Block], Array]:
        """The function that gives a block's loadings (n, k) to start from."""

        def begin(block: Block) -> Array:
            close = factorised_posterior(block, parameters, None, 1e-3, N_BEGINNING)
            return np.ascontiguousarray(close.mean)

        return begin

    def sweep(
        self, parameters: LdaParameters, number: int, *, drawn: bool, own: Array | None = None
    ) -> Callable[[Block, Array], tuple[ShareSums, Array]]:
        """The function that moves a block's loadings once, and sums what they say.

        Random streams belong to a sweep and a row's number, so that blocks, threads and workers,
        and their order, do not matter.
        """
        seed = np.random.SeedSequence([self.seed, number]).generate_state(1, np.uint64)[0]
        topics, totals = np.ascontiguousarray(parameters.topics.T), self.totals  # (d, k)
        prior = np.ascontiguousarray(parameters.shapes)
        single = np.zeros(len(prior)) if own is None else own

        def step(block: Block, loadings: Array) -> tuple[ShareSums, Array]:
            n, k = loadings.shape
            weights = np.ones(n) if block.weights is None else block.weights
            counts, split = block.nonzeros(), np.zeros(topics.shape)
            left = topics.sum(axis=0) - block.presence().onto(topics)
            where = np.ascontiguousarray(np.maximum(left, 0.0))
            where[where < 1e-12] = 0.0
            known = np.full(n, UNKNOWN)
            if totals is not None:
                known = totals[block.start : block.start + n].astype(float)
            mean, log_share, moved = (np.zeros((n, k)) for _ in range(3))
            for some in short_calls(DRAWING * k * (1.0 + np.diff(counts.starts))):
                _sweep(
                    *counts.part(some),
                    weights[some],
                    topics,
                    prior,
                    single,
                    parameters.length_shape,
                    parameters.rate,
                    where[some],
                    known[some],
                    loadings[some],
                    drawn,
                    seed,
                    block.start + some.start,
                    split,
                    mean[some],
                    log_share[some],
                    moved[some],
                )
            counted = weights * (counts.totals() > 0)
            sums = ShareSums(
                float(counted.sum()),
                split,
                block.presence().back(mean * weights[:, None]),
                counted @ log_share,
            )
            return sums, moved

        return step


def polish(
    rows: Rows,
    start: LdaParameters,
    *,
    seed: int,
    n_sweeps: int,
    smoothing: float,
    concentration: float | None = None,
    totals: Array | None = None,
    text: bool = True,
) -> Polished:
    """Improve ``start`` by ``n_sweeps`` of draws; if rows are ``text``, mostly by expectations.

    Half of the draws are to get there, half to average: the average gives later sweeps more weight,
    in proportion to their number.
    """
    sweeps, parameters = Sweeps(seed, totals), _blurred(rows, start, SOFTENED if text else BLURRED)
    carried = rows.carrying(sweeps.begin(parameters))
    n_expected, own = (n_sweeps if text else 0), None
    n_sweeps = max(n_sweeps // FEWER, 1) if text else n_sweeps
    for number in range(n_expected):
        sums = carried.accumulate(sweeps.sweep(parameters, number, drawn=False, own=own))
        parameters = sums.maximise(parameters, smoothing, concentration)
        own = 1 / np.maximum(sums.split.sum(axis=0) + smoothing * len(sums.split), 1.0)
    averaged: ShareSums | None = None
    n_burn_in = n_sweeps // 2
    for number in range(n_sweeps):
        sums = carried.accumulate(sweeps.sweep(parameters, n_expected + number, drawn=True))
        step = 1.0 if number <= n_burn_in else 2 / (number - n_burn_in + 2)
        averaged = sums if averaged is None else averaged.towards(sums, step)
        parameters = averaged.maximise(parameters, smoothing, concentration)
    return Polished(parameters, Climb(None, n_expected + n_sweeps, True))


def _blurred(rows: Rows, parameters: LdaParameters, share: float) -> LdaParameters:
    """Every topic mixed with a ``share`` of the means (d,)."""
    mean = rows.accumulate(FeatureSums.of).mean
    topics = (1 - share) * parameters.topics + share * mean / mean.sum()
    alpha = np.clip(parameters.shapes, LEAST_ALPHA, MOST_ALPHA)
    return LdaParameters(topics, alpha, parameters.length_shape, parameters.rate)


@njit(cache=True, nogil=True)
def _expected(
    features: Indices,
    counts: Array,
    weight: float,
    topics: Array,
    prior: Array,
    own: Array,
    held: Array,
    split: Array,
    share: Array,
    found: Array,
) -> None:  # pragma: no cover - compiled
    """Share a row's counts out by those ``held`` (k,) so far, each but for one of its own.

    That one is neither among the row's items nor among those that topics are made of, of which it
    is ``own`` (k,).
    """
    k = len(prior)
    for entry in range(len(counts)):
        feature, count = features[entry], counts[entry]
        total = 1e-300
        for c in range(k):
            share[c] = topics[feature, c] * (prior[c] + held[c])
            total += share[c]
        second = 1e-300
        for c in range(k):
            one = share[c] / total
            other = prior[c] + max(held[c] - one, 0.0)
            topic = topics[feature, c]
            share[c] = max(topic - one * own[c], LEFT * topic) * other
            second += share[c]
        for c in range(k):
            part = count * share[c] / second
            found[c] += part
            split[feature, c] += weight * part


@njit(cache=True, nogil=True)
def _drawn(
    features: Indices,
    counts: Array,
    weight: float,
    topics: Array,
    loadings: Array,
    split: Array,
    share: Array,
    found: Array,
    state: row_random.State,
) -> None:  # pragma: no cover - compiled
    """Draw how a row's counts split among topics."""
    for entry in range(len(counts)):
        feature, count = features[entry], counts[entry]
        shared_out(topics[feature], loadings, share)
        for c in range(len(share)):
            split[feature, c] += weight * count * share[c]
        draw_split(int(count), share, found, state)


@njit(cache=True, nogil=True)
def _unrecorded(
    known: float,
    recorded: float,
    missing: float,
    shape: float,
    rate: float,
    size: float,
    drawn: bool,
    state: row_random.State,
) -> float:  # pragma: no cover - compiled
    """How many items were not recorded, ``missing`` being their rate, of ``size`` in all."""
    if known >= 0.0:
        return max(known - recorded, 0.0)
    if drawn:
        return float(row_random.poisson(missing, state))
    part = missing / max(size, 1e-300)
    return (shape + recorded) * part / (rate + 1.0 - part)


@njit(cache=True, nogil=True)
def _sweep(
    starts: Indices,
    features: Indices,
    counts: Array,
    weights: Array,  # (n,)
    topics: Array,  # (d, k)
    prior: Array,  # (k,)
    own: Array,  # (k,)  the share of one item in each topic
    length_shape: float,
    length_rate: float,
    where: Array,  # (n, k)  shares of topics in what rows do not have
    known: Array,  # (n,)    totals, or less than zero
    loadings: Array,  # (n, k)
    drawn: bool,
    seed: np.uint64,
    first: int,  # the number of the first row
    split: Array,  # (d, k)  added to, as the following are written
    mean: Array,  # (n, k)
    log_share: Array,  # (n, k)
    moved: Array,  # (n, k)
) -> None:  # pragma: no cover - compiled
    n_rows, k = loadings.shape
    state = np.empty(1, dtype=np.uint64)
    share, found = np.empty(k), np.empty(k)
    concentration = prior.sum()
    for row in range(n_rows):
        part = slice(starts[row], starts[row + 1])
        recorded = counts[part].sum()
        row_random.start(state, seed, first + row)
        found[:] = 0.0
        if drawn:
            _drawn(
                features[part],
                counts[part],
                weights[row],
                topics,
                loadings[row],
                split,
                share,
                found,
                state,
            )
        else:
            _expected(
                features[part],
                counts[part],
                weights[row],
                topics,
                prior,
                own,
                loadings[row],
                split,
                share,
                found,
            )
        size, missing = 0.0, 0.0
        for c in range(k):
            size += loadings[row, c]
            missing += loadings[row, c] * where[row, c]
        if missing > 0.0:
            left = _unrecorded(
                known[row], recorded, missing, length_shape, length_rate, size, drawn, state
            )
            for c in range(k):
                share[c] = loadings[row, c] * where[row, c] / missing
            if drawn:
                draw_split(int(left), share, found, state)
            else:
                found += left * share
        total = found.sum()
        in_all = (length_shape + total) / (length_rate + 1.0)
        of_total = special.digamma(concentration + total)
        for c in range(k):
            mean[row, c] = in_all * (prior[c] + found[c]) / (concentration + total)
            log_share[row, c] = special.digamma(prior[c] + found[c]) - of_total
        if not drawn:
            moved[row] = found
            continue
        size = 0.0
        for c in range(k):
            moved[row, c] = max(math.exp(row_random.log_gamma(prior[c] + found[c], state)), 1e-300)
            size += moved[row, c]
        length = math.exp(row_random.log_gamma(length_shape + total, state)) / (length_rate + 1.0)
        for c in range(k):
            moved[row, c] *= max(length, 1e-300) / size
