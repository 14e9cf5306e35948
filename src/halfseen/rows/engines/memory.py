"""Rows of an array in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.carried import CarriedHere
from halfseen.rows.engines.summing import Told, as_it_is, in_runs, nobody, sum_over_runs
from halfseen.rows.rows import Block, S, T

BLOCK_ENTRIES = 1 << 16  # half a megabyte of doubles: a block and its products stay in the cache
FEWEST_ROWS = 256


@dataclass(frozen=True, eq=False)
class MemoryRows:
    """An array in which NaN marks the gaps, cut into blocks of rows, threads over blocks."""

    sparse: ClassVar[bool] = False
    table: np.ndarray[Any, Any]  # (n, d)
    names: tuple[str, ...]
    weights: Array | None = None  # (n,)  how often each row counts
    n_threads: int = 1
    advance: Told = field(default=nobody)
    columns: Mask | None = None
    first: int = 0  # which row of a larger table is the first

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features; copies nothing."""
        chosen = np.ones(self.table.shape[1], bool) if self.columns is None else self.columns.copy()
        chosen[chosen] = features
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        return replace(self, columns=chosen, names=names)

    def recentred(self, origin: Array) -> "PreparedRows":
        """The same rows measured from ``origin`` (d,), kept ready for many passes."""
        blocks = [block.recentred(origin) for block in self.blocks()]
        return PreparedRows(tuple(blocks), self.names, self.n_threads, self.advance)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        runs = in_runs(self._pieces())
        return sum_over_runs(runs, self._block, summarise, self.n_threads, self.advance)

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum."""
        return finish(self.accumulate(summarise))

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)

    def blocks(self) -> Iterator[Block]:
        """The rows in order, a block at a time; one empty block if there are none."""
        return map(self._block, self._pieces())

    def _pieces(self) -> list[slice]:
        step = max(BLOCK_ENTRIES // max(len(self.names), 1), FEWEST_ROWS)
        return [slice(i, i + step) for i in range(0, max(len(self.table), 1), step)]

    def _block(self, part: slice) -> Block:
        columns = None if self.columns is None else np.flatnonzero(self.columns)
        weights = None if self.weights is None else self.weights[part]
        return Block.from_table(self.table[part], weights, self.first + part.start, columns)


@dataclass(frozen=True, eq=False)
class PreparedRows:
    """Blocks of rows that are ready to be summed, again and again."""

    sparse: ClassVar[bool] = False
    ready: tuple[Block, ...]
    names: tuple[str, ...]
    n_threads: int = 1
    advance: Told = field(default=nobody)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features; copies, unless that is all of them."""
        if features.all():
            return self
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        return replace(self, ready=tuple(b.select(features) for b in self.ready), names=names)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, ready=tuple(block.recentred(origin) for block in self.ready))

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        runs = in_runs(self.ready)
        return sum_over_runs(runs, as_it_is, summarise, self.n_threads, self.advance)

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum."""
        return finish(self.accumulate(summarise))

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)
