"""Which words show what a topic is, and whether they stand in the same rows.

Relevance: of feature d in topic k, with p_d its share in all that is counted (Sievert and Shirley,
2014)::

    r_kd = λ log a_kd + (1 - λ) log(a_kd / p_d)

λ = 1 ranks by share alone, and common words lead every topic; λ = 0 ranks by lift alone, and words
that occur once lead.

Coherence: the normalised pointwise mutual information of two words (Bouma, 2009), by the shares of
rows that hold them among the rows in which both were observed::

    npmi = log(p_ij / (p_i p_j)) / -log p_ij

is 1 for words that only occur together, 0 for independent words, and -1 for words that never occur
together. A topic's coherence is the mean over the pairs of its words, which goes along with how
people judge topics (Lau, Newman and Baldwin, 2014).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows

USUAL_RELEVANCE = 0.6
"""The λ that people found to tell topics apart best, in the study of Sievert and Shirley."""


def check_relevance(relevance: float) -> None:
    """Refuse what is no share."""
    if not 0 <= relevance <= 1:
        raise ValueError(f"relevance must be from 0 to 1. Got {relevance!r} instead.")


def most_relevant(
    topics: Array, average: Array, relevance: float, most: int
) -> list[NDArray[np.intp]]:
    """Of each topic (k, d) the most relevant features that it has at all, at most so many."""
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
    """Of each topic, given by its ``words``, the mean NPMI of their pairs; NaN without pairs; (k,).

    One pass over those columns that are anybody's word.
    """
    chosen = np.zeros(len(rows.names), bool)
    for own in words:
        chosen[own] = True
    place = np.cumsum(chosen) - 1
    between = npmi(*rows.select(chosen).accumulate(_together))
    return np.array([_mean_of_pairs(between[np.ix_(place[own], place[own])]) for own in words])


def npmi(both: Array, first: Array, n_rows: Array) -> Array:
    """By the rows that hold two words, that hold the first, and in which both were observed."""
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
