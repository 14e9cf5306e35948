"""Whether topics go along with each other in rows more, or less, than the model has it.

Shares of topics in rows are correlated for many reasons: they sum to one, words are shared, and
rows are short. So the rank correlations of the table's rows are held against those of as many rows
that the fitted model drew, with the same gaps, read in the same way.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows, gathered, with_gaps
from halfseen.inference.fit import Fitted

MOST_CELLS = 500_000
"""That are drawn at a time."""
FEWEST_ROWS = 50


@dataclass(frozen=True, eq=False)
class LoadingsTogether:
    """Rank correlations of the shares of topics, in the model's order; (k, k) each."""

    seen: Array  # in the table
    expected: Array  # in rows that the model drew
    n_rows: int

    @property
    def beyond(self) -> Array:
        """By how much those of the table exceed the model's; zero on the diagonal."""
        return self.seen - self.expected

    @property
    def deviation(self) -> Array:
        """The same in standard errors, by Fisher's transformation."""
        seen, expected = (np.arctanh(np.clip(r, -0.999, 0.999)) for r in (self.seen, self.expected))
        # Ranks are somewhat noisier than values: Bonett and Wright (2000).
        spread = (1 + self.seen**2 / 2 + 1 + self.expected**2 / 2) / max(self.n_rows - 3, 1)
        return np.asarray((seen - expected) / np.sqrt(spread))


def loadings_together(fitted: Fitted[Any], rows: Rows) -> LoadingsTogether | None:
    """Of the rows of a sample; None if they are few, or there is one topic."""
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
