"""Whether the words of a topic stand in the same rows, in the table itself.

The normalised pointwise mutual information of two words (Bouma, 2009), by the shares of rows that
hold them among the rows in which both were observed::

    npmi = log(p_ij / (p_i p_j)) / -log p_ij

is 1 for words that are only there together, 0 for words that are by chance, and -1 for words that
never are. A topic's coherence is the mean over the pairs of its words (Lau, Newman and Baldwin,
2014, find it to go along with what people think of topics).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows

N_WORDS = 10
"""Of each topic."""


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
    own = csr_array(held.multiply(block.weighed(np.ones(len(block)))[:, None]))
    return np.stack([(own.T @ held).toarray(), np.asarray(held.T @ weighed), shown.T @ weighed])


def _mean_of_pairs(between: Array) -> float:
    pairs = between[np.triu_indices(len(between), 1)]
    known = pairs[~np.isnan(pairs)]
    return float(known.mean()) if len(known) else np.nan
