"""How likely items are, in their order, given how many a row has."""

from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from halfseen.models.lda.parameters import LdaParameters
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block
from halfseen.structures.loadings.importance import importance_sample
from halfseen.structures.loadings.law import Rest

SEED = 0
SLIGHT, RARE = 1e-6, 1e-9
"""Shape and rate of a law of lengths that says nothing of them."""


def given_length(
    block: Block, parameters: LdaParameters, rest: Rest | None = None
) -> tuple[Array, Array]:
    """Log-probabilities of the items of rows, and how many they are; (n,) each.

    With a law of lengths that says nothing, ``p(x)`` is ``p(x | r)`` times the chance that r items
    are recorded, whatever the gaps. Where the ``rest`` is known, its items are among the r, each
    as one that was not recorded.
    """
    indifferent = replace(parameters, length_shape=SLIGHT, rate=RARE)
    counts = block.nonzeros()
    others = np.zeros(len(block)) if rest is None else rest.counts
    items = counts.totals() + others
    of_counts = importance_sample(block, indifferent, SEED, rest=rest).log_likelihood
    orders = gammaln(items + 1) - counts.row_sums(gammaln(counts.counts + 1)) - gammaln(others + 1)
    of_length = gammaln(SLIGHT + items) - gammaln(SLIGHT) - gammaln(items + 1)
    of_length += SLIGHT * np.log(RARE)
    return np.where(items > 0, of_counts - orders - of_length, 0.0), items
