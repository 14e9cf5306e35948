"""Rows with columns of nothing but gaps beside their own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import compress
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.carried import CarriedHere
from halfseen.rows.rows import Block, Rows, S, T


@dataclass(frozen=True, eq=False)
class WidenedRows:
    """Rows as blocks of all ``names``, of which they hold some, in any order."""

    rows: Rows
    names: tuple[str, ...]
    origin: Array | None = None  # (d,)  what values are measured from; None is zero

    @property
    def sparse(self) -> bool:
        """Gaps are written out."""
        return False

    @property
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        origin = None if self.origin is None else self.origin[features]
        return replace(self, names=tuple(compress(self.names, features)), origin=origin)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, origin=origin if self.origin is None else self.origin + origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(self._widened(summarise))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(self._widened(summarise), finish)

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)

    def _widened(self, function: Callable[[Block], T]) -> Callable[[Block], T]:
        """A function of wide blocks as one of narrow ones; workers get it without the rows."""
        own = {name: i for i, name in enumerate(self.rows.names)}
        wide = np.array([i for i, name in enumerate(self.names) if name in own], dtype=int)
        narrow = np.array([own[self.names[i]] for i in wide], dtype=int)
        d, origin = len(self.names), self.origin

        def changed(block: Block) -> T:
            values, observed = np.zeros((len(block), d)), np.zeros((len(block), d), bool)
            values[:, wide], observed[:, wide] = block.values[:, narrow], block.observed[:, narrow]
            made = Block(values, observed, block.weights, block.start, block.sequence)
            return function(made if origin is None else made.recentred(origin))

        return changed
