"""Characteristic words of topics, and correlations between topics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import rankdata

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows, gathered, with_gaps
from halfseen.inference.fit import Fitted

USUAL_RELEVANCE = 0.6
"""The λ that people found to tell topics apart best, in the study of Sievert and Shirley."""


def check_relevance(relevance: float) -> None:
    """Refuse a relevance outside 0 to 1."""
    if not 0 <= relevance <= 1:
        raise ValueError(f"relevance must be from 0 to 1. Got {relevance!r} instead.")


def most_relevant(
    topics: Array, average: Array, relevance: float, most: int
) -> list[NDArray[np.intp]]:
    """The most relevant features of each topic (k, d)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share, lift = np.log(topics), np.log(topics / average)
        score = np.where(topics > 0, relevance * share + (1 - relevance) * lift, -np.inf)
    # Features of one relevance go by share, so that the order never depends on rounding alone.
    ranked = [np.lexsort((-own, -rank)) for own, rank in zip(topics, score, strict=True)]
    return [
        order[:most][np.isfinite(rank[order[:most]])]
        for order, rank in zip(ranked, score, strict=True)
    ]


N_WORDS = 10
"""Words of a topic whose coherence is measured: as many as the literature takes."""


def coherence(rows: Rows, words: Sequence[NDArray[np.intp]]) -> Array:
    """The mean NPMI of pairs of ``words`` of each topic; NaN without pairs; (k,).

    One pass over those columns that are anybody's word.
    """
    chosen = np.zeros(len(rows.names), bool)
    for own in words:
        chosen[own] = True
    place = np.cumsum(chosen) - 1
    between = npmi(*rows.select(chosen).accumulate(_together))
    return np.array([_mean_of_pairs(between[np.ix_(place[own], place[own])]) for own in words])


def npmi(both: Array, first: Array, n_rows: Array) -> Array:
    """Normalised pointwise mutual information of words, over rows in which both were observed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = both / n_rows
        value = np.log(joint * n_rows / first * n_rows / first.T) / -np.log(joint)
    never = (both == 0) & (first > 0) & (first.T > 0)
    value = np.where(never, -1.0, np.where(joint >= 1, 1.0, value))
    return np.where((first > 0) & (first.T > 0), value, np.nan)


def _together(block: Block) -> Array:
    """Rows that hold features i and j, that hold i and show j, and that show both; (3, d, d)."""
    counts = block.nonzeros()
    shape = (len(block), block.n_features)
    held = csr_array((np.ones(len(counts.counts)), counts.features, counts.starts), shape=shape)
    shown = block.present(np.arange(block.n_features)).astype(float)
    weighed = block.weighed(shown)
    own = csr_array(held.multiply(block.row_weights()[:, None]))
    return np.stack([(own.T @ held).toarray(), np.asarray(held.T @ weighed), shown.T @ weighed])


def _mean_of_pairs(between: Array) -> float:
    pairs = between[np.triu_indices(len(between), 1)]
    known = pairs[~np.isnan(pairs)]
    return float(known.mean()) if len(known) else np.nan


MOST_CELLS = 500_000
"""That are drawn at a time."""
FEWEST_ROWS = 50  # of fewer, rank correlations are too uncertain


@dataclass(frozen=True, eq=False)
class LoadingsTogether:
    """Rank correlations of shares of topics in the table and under the model; (k, k) each.

    Shares are correlated for many reasons: they sum to one, words are shared, and rows are short.
    So those of the table's rows are held against those of as many rows that the fitted model drew,
    with the same gaps, read in the same way.
    """

    seen: Array  # in the table
    expected: Array  # in rows that the model drew
    n_rows: int

    @property
    def beyond(self) -> Array:
        """The excess over the model's correlations; zero on the diagonal."""
        return self.seen - self.expected

    @property
    def deviation(self) -> Array:
        """The excess in standard errors, by Fisher's transformation."""
        seen, expected = (np.arctanh(np.clip(r, -0.999, 0.999)) for r in (self.seen, self.expected))
        # Ranks are somewhat noisier than values: Bonett and Wright (2000).
        spread = (1 + self.seen**2 / 2 + 1 + self.expected**2 / 2) / max(self.n_rows - 3, 1)
        return np.asarray((seen - expected) / np.sqrt(spread))


def loadings_together(fitted: Fitted[Any], rows: Rows) -> LoadingsTogether | None:
    """Correlations in a sample of rows; None for few rows or one topic."""
    model, parameters, random = fitted.model, fitted.parameters, np.random.RandomState(0)
    part = rows.select(fitted.kept)

    def like(block: Block) -> Block:
        """Rows of the model with the gaps of a block."""
        values, _ = model.draw(parameters, len(block), random)
        seen = ~np.isnan(with_gaps(block))
        return Block.from_table(np.where(seen, values, np.nan), None, block.start)

    def both(block: Block) -> Array:
        filled = block.presence().onto(np.ones((block.n_features, 1)))[:, 0] > 0
        there = block.rows(np.flatnonzero(filled))
        at_a_time = max(MOST_CELLS // max(block.n_features, 1), 1)
        starts = range(0, len(there), at_a_time)
        parts = [np.arange(a, min(a + at_a_time, len(there))) for a in starts]
        drawn = [model.expected_latent(like(there.rows(some)), parameters) for some in parts]
        own = model.expected_latent(there, parameters)
        return np.hstack([own, np.concatenate([own[:0], *drawn])])

    found = gathered(part, both)
    if found.shape[1] < 4 or len(found) < FEWEST_ROWS:
        return None
    seen, expected = (_ranked(values) for values in np.hsplit(found, 2))
    return LoadingsTogether(seen, expected, len(found))


def _ranked(hidden: Array) -> Array:
    shares = hidden / np.maximum(hidden.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    ranks = rankdata(shares, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(np.corrcoef(ranks.T)))
