"""How likely items are, in their order, given how many a row has."""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from halfseen.models.lda.parameters import LdaParameters
from halfseen.rows.arrays import Array
from halfseen.rows.nonzeros import Nonzeros
from halfseen.rows.rows import Block
from halfseen.structures.loadings.importance import importance_sample
from halfseen.structures.loadings.law import exposures
from halfseen.structures.loadings.posterior import mean_field

SEED = 0
SLIGHT, RARE = 1e-6, 1e-9
"""Shape and rate of a law of lengths that says nothing of them."""


def given_length(block: Block, parameters: LdaParameters) -> tuple[Array, Array]:
    """Log-probabilities of the items of rows, and how many they are; (n,) each.

    With a law of lengths that says nothing, ``p(x)`` is ``p(x | r)`` times the chance that r items
    are recorded, whatever the gaps.
    """
    indifferent = replace(parameters, length_shape=SLIGHT, rate=RARE)
    counts = block.nonzeros()
    recorded = counts.totals()
    of_counts = importance_sample(block, indifferent, SEED).log_likelihood
    orders = gammaln(recorded + 1) - counts.row_sums(gammaln(counts.counts + 1))
    of_length = gammaln(SLIGHT + recorded) - gammaln(SLIGHT) - gammaln(recorded + 1)
    of_length += SLIGHT * np.log(RARE)
    return np.where(recorded > 0, of_counts - orders - of_length, 0.0), recorded


def completed(block: Block, parameters: LdaParameters) -> tuple[Array, Array]:
    """The same of half the items, given shares of topics that the other half implies."""
    counts = block.nonzeros()
    known = _half(counts, block.start)
    rates = np.ascontiguousarray(exposures(block, parameters, None))
    first = counts._replace(counts=known)
    means = mean_field(first, parameters, rates)
    shares = means / means.sum(axis=1, keepdims=True)
    seen = block.presence().onto(np.ascontiguousarray(parameters.topics.T))
    rest = counts.counts - known
    chance = np.einsum("mk,mk->m", shares[counts.rows], parameters.topics.T[counts.features])
    chance /= np.einsum("nk,nk->n", shares, seen)[counts.rows]
    return counts.row_sums(rest * np.log(np.maximum(chance, 1e-300))), counts.row_sums(rest)


def _half(counts: Nonzeros, start: int) -> Array:
    """Half of each row's items, at random, the same whenever asked for; (nnz,)."""
    random = np.random.default_rng([SEED, start])
    known: Array = random.binomial(counts.counts.astype(np.int64), 0.5).astype(float)
    return known
