"""Polish topics by what they say of rows: first by expectations, then by draws.

Sweeps of expectations go far in a few sweeps; draws have no bias to leave, and are averaged.
"""

from dataclasses import replace

import numpy as np

from halfseen.method.model import Climb, Polished
from halfseen.models.lda.parameters import LdaParameters
from halfseen.models.lda.share_sums import LEAST_ALPHA, MOST_ALPHA, ShareSums
from halfseen.models.lda.sweeps import Sweeps
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Rows
from halfseen.structures.loadings.averaging import averaged, blurred

FEWER = 10
"""In text sweeps are of expectations, and so many times fewer of draws follow: of more, held-out
words are less likely. Elsewhere moments are a better start than expectations."""
BLURRED, SOFTENED = 0.01, 0.95
"""How much of every topic is what all is, where sweeps begin: a little, as a share of exactly zero
could never grow, and nearly all of it in text, where moments make topics of single odd rows. So
softened they led to held-out words as likely as the best of five random starts did, or likelier (of
posts, five splits that this was set on: perplexity 117.8, and 118.2 to 120.2)."""


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
    """Improve ``start`` by ``n_sweeps`` of draws; if rows are ``text``, mostly by expectations."""

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
    parameters = averaged(parameters, n_drawn, drawn, maximise)
    return Polished(parameters, Climb(None, n_expected + n_drawn, True))


def _begun(rows: Rows, start: LdaParameters, share: float) -> LdaParameters:
    """Topics that no feature is impossible in, and shares that sweeps can move."""
    topics = blurred(start.topics, rows.accumulate(FeatureSums.of).mean, share)
    return replace(start, topics=topics, shapes=np.clip(start.shapes, LEAST_ALPHA, MOST_ALPHA))
