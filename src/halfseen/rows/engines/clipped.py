"""The same rows with values beyond limits put at the limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.carried import CarriedHere
from halfseen.rows.rows import Block, Rows, S, T


@dataclass(frozen=True, eq=False)
class ClippedRows:
    """Rows in which no value of a feature is below ``low`` or above ``high``; gaps stay gaps."""

    rows: Rows
    low: Array  # (d,)
    high: Array  # (d,)

    @property
    def sparse(self) -> bool:
        """As the rows are, if zeros stay zeros."""
        return self.rows.sparse and bool((self.low <= 0).all() and (self.high >= 0).all())

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return self.rows.names

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        return replace(
            self,
            rows=self.rows.select(features),
            low=self.low[features],
            high=self.high[features],
        )

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        moved = self.rows.recentred(origin)
        return replace(self, rows=moved, low=self.low - origin, high=self.high - origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(_clipped(summarise, self.low, self.high))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(_clipped(summarise, self.low, self.high), finish)

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)


def _clipped(summarise: Callable[[Block], S], low: Array, high: Array) -> Callable[[Block], S]:
    """What sums a block of the clipped rows, from a block of the rows."""
    return lambda block: summarise(block.clipped(low, high))
