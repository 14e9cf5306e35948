"""Rows that are unlike all that topics were learned from, and counts unlike their rows."""

import numpy as np
from scipy.stats import nbinom

from halfseen.rows.arrays import Array
from halfseen.rows.nonzeros import Indices, Nonzeros
from halfseen.rows.rows import Block
from halfseen.structures.loadings.law import LoadingLaw, loading_means, variance_along
from halfseen.structures.loadings.posterior import FactorisedPosterior, factorised_posterior

WIDER = 2.0
"""Factorised posteriors are too sure of loadings that topics trade: their variances count twice."""
RARE_ROW = 1e-4
"""A row of this probability is as likely to be an error as not, as in mixtures."""
IMPOSSIBLE = 1e-6
"""A count of this probability given its row, its being one of many allowed for, is an error."""


def unusual(block: Block, law: LoadingLaw) -> Array:
    """How unlike the model's own each row is, from 0 to 1; (n,).

    A half where one row of the model in ten thousand has a count as far above what the row's other
    counts say, in any of its features, or is as long.
    """
    chance, _ = _least_likely(block, law)
    either = np.minimum(2 * np.minimum(chance, _tail_of_length(block, law)), 1.0)
    score: Array = RARE_ROW / (RARE_ROW + either)
    return score


def without_errors(block: Block, law: LoadingLaw) -> Block:
    """The same rows, a count that is impossible given the rest of its row being a gap."""
    chance, feature = _least_likely(block, law)
    row = np.flatnonzero(chance < IMPOSSIBLE)
    return block.without(row, feature[row]) if len(row) else block


def _least_likely(block: Block, law: LoadingLaw) -> tuple[Array, Indices]:
    """Of each row how probable its least likely count is, and the feature; (n,) each.

    A count is judged without itself, which would take as many passes as there are features. Two
    are: the one that is furthest above what its row says, and the one that is furthest above what
    all rows say, which may have drawn its row's loadings to itself. The probability is that of any
    count of the row being as unlikely.
    """
    counts = block.nonzeros()
    n_seen = block.presence().onto(np.ones((block.n_features, 1)))[:, 0]
    least, feature = np.ones(len(block)), np.zeros(len(block), dtype=np.int64)
    usual = loading_means(law) @ law.topics  # (d,)
    spread = np.sqrt(usual + variance_along(law, law.topics.T)) + np.finfo(float).tiny
    of_row = _predicted(factorised_posterior(block, law), law, counts.rows, counts)
    for above in (
        (counts.counts - of_row[0]) / np.sqrt(of_row[1]),
        ((counts.counts - usual[counts.features]) / spread[counts.features]),
    ):
        place = _furthest(counts, above)
        row, chosen = (
            counts.rows[place],
            counts._replace(features=counts.features[place], counts=counts.counts[place]),
        )
        rest = factorised_posterior(block.without(row, chosen.features), law)
        mean, variance = _predicted(rest, law, row, chosen)
        chance = np.minimum(n_seen[row] * _tail(chosen.counts, mean, variance), 1.0)
        lower = chance < least[row]
        least[row[lower]], feature[row[lower]] = chance[lower], chosen.features[lower]
    return least, feature


def _furthest(counts: Nonzeros, above: Array) -> Indices:
    """The places of the counts with the largest ``above`` (nnz,) of each row that has any."""
    order = np.lexsort((above, counts.rows))
    last = counts.starts[1:][np.diff(counts.starts) > 0] - 1
    return order[last]


def _predicted(
    posterior: FactorisedPosterior,
    law: LoadingLaw,
    row: Indices,
    counts: Nonzeros,
) -> tuple[Array, Array]:
    """Means and variances of ``counts``, each in its ``row``, given the loadings; (m,) each."""
    shares = law.topics.T[counts.features]  # (m, k)
    mean = np.einsum("mk,mk->m", shares, posterior.mean[row]) + np.finfo(float).tiny
    of_loadings = (posterior.mean / posterior.rates)[row]
    return mean, mean + WIDER * np.einsum("mk,mk->m", shares**2, of_loadings)


def _tail_of_length(block: Block, law: LoadingLaw) -> Array:
    """The probability that what is observed in a row has as large a total; (n,)."""
    seen = block.presence().onto(law.topics.T)  # (n, k)
    mean = seen @ loading_means(law) + np.finfo(float).tiny
    return _tail(block.nonzeros().totals(), mean, mean + variance_along(law, seen))


def _tail(count: Array, mean: Array, variance: Array) -> Array:
    """P(x ≥ count) of negative binomial counts of such means and variances; (m,)."""
    mean = np.maximum(mean, 1e-12)
    shape = mean**2 / np.maximum(variance - mean, 1e-12 * mean)
    return np.asarray(nbinom.sf(count - 1, shape, shape / (shape + mean)))
