"""The same rows, counting more or less: a replicate of a bootstrap, or a part of the table."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.bins import Bins
from halfseen.rows.carried import CarriedHere
from halfseen.rows.rows import Block, Rows, S, T


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
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

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
        return self.rows.accumulate(_reweighted(summarise, self.bins, self.weights))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(_reweighted(summarise, self.bins, self.weights), finish)

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)


def _reweighted(
    summarise: Callable[[Block], S], bins: Bins, weights: Array
) -> Callable[[Block], S]:
    """What sums a block of the reweighted rows, from a block of the rows."""

    def summarise_reweighted(block: Block) -> S:
        by_row = weights[bins.of(block)]
        present = np.flatnonzero(by_row > 0)
        if len(present) < len(by_row):
            block, by_row = block.rows(present), by_row[present]
        return summarise(
            block if (by_row == 1).all() else block.with_weights(block.weighed(by_row))
        )

    return summarise_reweighted
