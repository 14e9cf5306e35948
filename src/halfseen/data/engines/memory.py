"""Rows of an array in memory, summed over blocks in threads."""

import operator
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from operator import itemgetter
from threading import Event
from typing import Any, Self, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block
from halfseen.data.interrupts import go_on, is_served, serving
from halfseen.data.rows import Rows, S
from halfseen.data.sequences import Sequences

Told = Callable[[int], None] | None
"""Hears how many rows each block that is done had; None if nobody does."""

P = TypeVar("P")
R = TypeVar("R")

LONGEST_RUN = 8
FEWEST_RUNS = 32
FEWEST_SHARED = 3
"""Runs that are worth starting threads for, which takes as long as two of them."""

# glibc hands memory of freed arrays back to the system, and a pass that gets it again page by page
# spends more time on that than on its sums. It keeps what is smaller than an array that was freed
# before, up to 32 MB. This is that array; it is never touched, so it takes no memory.
np.empty(31 << 20, dtype=np.uint8)


def sum_over(
    blocks: Iterable[Block], summarise: Callable[[Block], S], n_threads: int, told: Told
) -> S:
    """The sum of ``summarise(block)`` over ``blocks``, which are not empty.

    Sums are merged in the order of the blocks whatever thread is done first, so the number of
    threads does not change which sums are added to which.
    """
    return sum_over_runs(zip(blocks, strict=False), as_it_is, summarise, n_threads, told)


def sum_over_runs(
    runs: Iterable[Sequence[P]],
    block_of: Callable[[P], Block],
    summarise: Callable[[Block], S],
    n_threads: int,
    told: Told,
) -> S:
    """:func:`sum_over` for blocks that threads make themselves from runs of pieces.

    A thread takes one run after the other. What it costs to hand one over is shared by its blocks.
    """

    def summed(run: Sequence[P]) -> tuple[list[int], S]:
        lengths: list[int] = []

        def one(piece: P) -> S:
            go_on()
            block = block_of(piece)
            if told is not None:
                lengths.append(len(block))
            return summarise(block)

        return lengths, _merged(map(one, run))

    few = isinstance(runs, Sequence) and len(runs) < FEWEST_SHARED
    alone = n_threads == 1 or few or is_served()
    results = map(summed, runs) if alone else _threaded(runs, summed, n_threads)
    sums: Iterable[S] = map(itemgetter(1), results) if told is None else _heard(results, told)
    return _merged(sums)


def in_runs(pieces: Sequence[P]) -> list[Sequence[P]]:
    """Cut pieces of a table into runs, independently of the number of threads."""
    length = min(max(len(pieces) // FEWEST_RUNS, 1), LONGEST_RUN)
    return [pieces[start : start + length] for start in range(0, len(pieces), length)]


def _heard(results: Iterable[tuple[list[int], S]], told: Callable[[int], None]) -> Iterator[S]:
    for lengths, sums in results:
        for n_rows in lengths:
            told(n_rows)
        yield sums


def as_it_is(block: Block) -> Block:
    """A piece that is a block."""
    return block


def _merged(sums: Iterable[S]) -> S:
    # In place where sums can: of three large ones, one fewer is held at a time.
    return reduce(operator.iadd, sums)


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """A reused thread pool: starting threads takes as long as a pass over a small table."""
    return ThreadPoolExecutor(n_threads, "halfseen")


if hasattr(os, "register_at_fork"):  # a process that was forked has none of them
    os.register_at_fork(after_in_child=_pool.cache_clear)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Libraries with thread pools of their own; searched again after new imports.

    It takes milliseconds to look through all that a process has loaded, as long as a small pass.
    """
    return ThreadpoolController()


def _threaded(
    runs: Iterable[Sequence[P]], summed: Callable[[Sequence[P]], R], n_threads: int
) -> Iterator[R]:
    """Results in order, at most a few runs ahead of the merge.

    If this ends early, as by an interrupt, the threads leave off what they are at.
    """
    given_up, pending, pool = Event(), deque[Future[R]](), _pool(n_threads)

    def served(run: Sequence[P]) -> R:
        with serving(given_up):
            return summed(run)

    with _libraries(len(sys.modules)).limit(limits=1):
        try:
            for run in runs:
                pending.append(pool.submit(served, run))
                if len(pending) > n_threads:
                    yield pending[0].result()
                    pending.popleft()
            while pending:
                yield pending[0].result()
                pending.popleft()
        finally:
            given_up.set()
            for one in pending:
                one.cancel()
            wait(pending)


BLOCK_ENTRIES = 1 << 16  # half a megabyte of doubles: a block and its products stay in the cache
FEWEST_ROWS = 256


@dataclass(frozen=True, eq=False)
class MemoryRows(Rows):
    """Rows of an array with NaN in the gaps, summed block by block in threads."""

    table: np.ndarray[Any, Any]  # (n, d)
    names: tuple[str, ...]
    weights: Array | None = None  # (n,)  how often each row counts
    n_threads: int = 1
    advance: Told = None
    columns: Mask | None = None
    first: int = 0  # which row of a larger table is the first
    sequences: Sequences | None = None  # of all rows of that table

    def select(self, features: Mask) -> Self:
        chosen = np.ones(self.table.shape[1], bool) if self.columns is None else self.columns.copy()
        chosen[chosen] = features
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        return replace(self, columns=chosen, names=names)

    def recentred(self, origin: Array) -> "PreparedRows":
        """The same rows measured from ``origin`` (d,), kept ready for many passes."""
        blocks = [block.recentred(origin) for block in self.blocks()]
        return PreparedRows(tuple(blocks), self.names, self.n_threads, self.advance)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        runs = in_runs(self._pieces())
        return sum_over_runs(runs, self._block, summarise, self.n_threads, self.advance)

    def blocks(self) -> Iterator[Block]:
        """The rows in order, a block at a time; one empty block if there are none."""
        return map(self._block, self._pieces())

    def _pieces(self) -> list[slice]:
        step = max(BLOCK_ENTRIES // max(len(self.names), 1), FEWEST_ROWS)
        if self.sequences is not None:
            return self.sequences.cut(self.first, len(self.table), step)
        return [slice(i, i + step) for i in range(0, max(len(self.table), 1), step)]

    def _block(self, part: slice) -> Block:
        columns = None if self.columns is None else np.flatnonzero(self.columns)
        weights = None if self.weights is None else self.weights[part]
        start, sequence = self.first + part.start, None
        if self.sequences is not None:
            sequence = self.sequences.of(start, len(self.table[part]))
        return Block.from_table(self.table[part], weights, start, columns, sequence)


@dataclass(frozen=True, eq=False)
class PreparedRows(Rows):
    """Blocks that are prepared once and summed many times."""

    ready: tuple[Block, ...]
    names: tuple[str, ...]
    n_threads: int = 1
    advance: Told = None

    @property
    def sequenced(self) -> bool:
        return self.ready[0].sequence is not None

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
        runs = in_runs(self.ready)
        return sum_over_runs(runs, as_it_is, summarise, self.n_threads, self.advance)
