"""Rows that are read anew on every pass, a batch at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.carried import CarriedHere
from halfseen.rows.engines.batch_size import MEMORY, rows_a_batch
from halfseen.rows.engines.memory import Told, sum_over_runs
from halfseen.rows.rows import Block, S, T


class Piece(NamedTuple):
    """Rows as they were read; the thread that sums them makes them floats."""

    n_rows: int
    table: Callable[[], np.ndarray[Any, Any]]  # (n_rows, d), NaN marks the gaps


class Source(Protocol):
    """Where rows come from, as often as they are asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, or their numbers where they have none."""

    @property
    def named(self) -> bool:
        """Whether the columns have names."""

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""


@dataclass(frozen=True, eq=False)
class BatchedRows:
    """A table of which only a few batches are in memory at any time."""

    sparse: ClassVar[bool] = False
    source: Source
    chosen: tuple[int, ...]
    n_threads: int = 1
    advance: Told = None
    memory: float = MEMORY
    origin: Array | None = None  # (d,)
    first: int = 0  # which row of a larger table is the first

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return tuple(self.source.names[column] for column in self.chosen)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features; the others are not read."""
        chosen = tuple(c for c, keep in zip(self.chosen, features, strict=True) if keep)
        origin = None if self.origin is None else self.origin[features]
        return replace(self, chosen=chosen, origin=origin)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, origin=origin if self.origin is None else self.origin + origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all batches of rows."""
        runs = zip(self._numbered(), strict=False)  # a batch is large: each is a run
        return sum_over_runs(runs, self._block, summarise, self.n_threads, self.advance)

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum."""
        return finish(self.accumulate(summarise))

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)

    def blocks(self) -> Iterator[Block]:
        """The rows in order, a batch at a time."""
        return map(self._block, self._numbered())

    def _numbered(self) -> Iterator[tuple[int, Piece]]:
        """Pieces with the number of their first row; an empty one if there are no rows."""
        start = self.first
        n_rows = rows_a_batch(self.memory, len(self.chosen), self.n_threads)
        for piece in self.source.pieces(self.chosen, n_rows):
            yield start, piece
            start += piece.n_rows
        if start == self.first:
            yield start, Piece(0, lambda: np.empty((0, len(self.chosen))))

    def _block(self, numbered: tuple[int, Piece]) -> Block:
        start, piece = numbered
        block = Block.from_table(piece.table(), None, start)
        return block if self.origin is None else block.recentred(self.origin)


def all_columns(
    source: Source,
    n_threads: int = 1,
    advance: Told = None,
    memory: float = MEMORY,
    first: int = 0,
) -> BatchedRows:
    """The rows of a source with all its columns."""
    every = tuple(range(len(source.names)))
    return BatchedRows(source, every, n_threads, advance, memory, first=first)
