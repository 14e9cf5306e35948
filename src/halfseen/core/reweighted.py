"""The same rows, counting more or less: a replicate of a bootstrap, or a part of the table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from halfseen.core.arrays import Array, Mask
from halfseen.core.bins import Bins
from halfseen.core.rows import Block, Rows, S


@dataclass(frozen=True, eq=False)
class ReweightedRows:
    """Rows that count as often as their bin says; those of a bin of weight zero are not there."""

    rows: Rows
    bins: Bins
    weights: Array  # (g,)  of the bins

    @property
    def sparse(self) -> bool:
        """As the rows are."""
        return self.rows.sparse

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return self.rows.names

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        return replace(self, rows=self.rows.select(features))

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, rows=self.rows.recentred(origin))

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(lambda block: summarise(self._reweighted(block)))

    def _reweighted(self, block: Block) -> Block:
        weights = self.weights[self.bins.of(block)]
        present = np.flatnonzero(weights > 0)
        if len(present) < len(weights):
            block, weights = block.rows(present), weights[present]
        if (weights == 1).all():
            return block
        return block.with_weights(block.weighed(weights))
