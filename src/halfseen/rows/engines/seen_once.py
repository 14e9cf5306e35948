"""Rows that were seen once and are gone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.carried import CarriedHere
from halfseen.rows.errors import DataError
from halfseen.rows.rows import Block, S, T


@dataclass(frozen=True)
class RowsSeenOnce:
    """Only the names of the features are left; sums that were not taken in time cannot be."""

    sparse: ClassVar[bool] = False
    sequenced: ClassVar[bool] = False
    names: tuple[str, ...]

    def select(self, features: Mask) -> Self:
        """The same with only some of the features."""
        return replace(
            self, names=tuple(n for n, keep in zip(self.names, features, strict=True) if keep)
        )

    def recentred(self, origin: Array) -> Self:
        """The same: there is nothing to measure."""
        return self

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """Refused."""
        raise DataError(
            "The rows of a stream are gone and cannot be gone over again. Give fit() batches that "
            "can be read again, such as files or a list of arrays."
        )

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum."""
        return finish(self.accumulate(summarise))

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)
