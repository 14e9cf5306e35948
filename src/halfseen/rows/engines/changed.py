"""The same rows, each block changed on its way by a function of the block."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Generic, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block, Carried, Rows, S, T


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
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        names = self.rows.names
        return names if self.features.all() else tuple(compress(names, self.features.tolist()))

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

    def carrying(self, begin: Callable[[Block], T]) -> "CarriedChanged[T]":
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedChanged(self.rows.carrying(self._changed(begin)), self._change())

    def _change(self) -> Callable[[Block], Block]:
        """What makes a block of the changed rows; it does not hold the rows, as workers get it."""
        change, features, origin = self.change, self.features, self.origin

        def changed(block: Block) -> Block:
            block = change(block)
            if not features.all():
                block = block.select(features)
            return block if origin is None else block.recentred(origin[features])

        return changed

    def _changed(self, function: Callable[[Block], T]) -> Callable[[Block], T]:
        """A function of blocks of the changed rows, as one of blocks of the rows."""
        change = self._change()
        return lambda block: function(change(block))


@dataclass(frozen=True, eq=False)
class CarriedChanged(Generic[T]):
    """What is kept beside the rows, where they are, for passes that see them changed."""

    carried: Carried[T]
    change: Callable[[Block], Block]

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""
        change = self.change
        return self.carried.accumulate(lambda block, kept: step(change(block), kept))
