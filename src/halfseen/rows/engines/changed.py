"""The same rows, each block changed on its way by a function of the block."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.carried import CarriedHere
from halfseen.rows.rows import Block, Rows, S, T


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """Rows as ``change(block)`` makes them, with as many rows and features as before.

    The function sees all features, also where only some are selected afterwards.
    """

    rows: Rows
    change: Callable[[Block], Block]
    features: Mask  # (d,)   those that are selected
    origin: Array | None = None  # (d,)  what values are measured from; None is zero

    @classmethod
    def of(cls, rows: Rows, change: Callable[[Block], Block]) -> Self:
        """All features of ``rows``, changed."""
        return cls(rows, change, np.ones(len(rows.names), dtype=bool))

    @property
    def sparse(self) -> bool:
        """As the rows are, unless they are measured from elsewhere."""
        return self.rows.sparse and self.origin is None

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        each = zip(self.rows.names, self.features, strict=True)
        return tuple(name for name, selected in each if selected)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        selected = self.features.copy()
        selected[self.features] = features
        return replace(self, features=selected)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        moved = np.zeros(len(self.features)) if self.origin is None else self.origin.copy()
        moved[self.features] += origin
        return replace(self, origin=moved)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(self._changed(summarise))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(self._changed(summarise), finish)

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)

    def _changed(self, summarise: Callable[[Block], S]) -> Callable[[Block], S]:
        """What sums a block of the changed rows, from a block of the rows."""
        change, features, origin = self.change, self.features, self.origin

        def summarise_changed(block: Block) -> S:
            block = change(block)
            if not features.all():
                block = block.select(features)
            return summarise(block if origin is None else block.recentred(origin[features]))

        return summarise_changed
