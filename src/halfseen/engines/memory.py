"""Rows of an array in memory."""

import operator
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Self

import numpy as np
from threadpoolctl import threadpool_limits

from halfseen.core.arrays import Array, Mask
from halfseen.core.rows import Block, S

BLOCK_ENTRIES = 1 << 16  # half a megabyte of doubles: a block and its products stay in the cache
FEWEST_ROWS = 256


def _ignore(n_rows: int) -> None:
    return None


@dataclass(frozen=True, eq=False)
class MemoryRows:
    """An array in which NaN marks the gaps, cut into blocks of rows, threads over blocks.

    Sums are merged in the order of the rows whatever thread is done first, so the number of
    threads does not change which sums are added to which.
    """

    table: np.ndarray[Any, Any]  # (n, d)
    names: tuple[str, ...]
    weights: Array | None = None  # (n,)  how often each row counts
    n_threads: int = 1
    advance: Callable[[int], None] = field(default=_ignore)  # told of each block's rows when done
    columns: Mask | None = None

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features; copies nothing."""
        chosen = np.ones(self.table.shape[1], bool) if self.columns is None else self.columns.copy()
        chosen[chosen] = features
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        return replace(self, columns=chosen, names=names)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""

        def run(block: Block) -> tuple[int, S]:
            return len(block.values), summarise(block)

        results = self._threaded(run) if self.n_threads > 1 else map(run, self.blocks())
        return reduce(operator.add, self._told(results))

    def blocks(self) -> Iterator[Block]:
        """The rows in order, a block at a time; one empty block if there are none."""
        step = max(BLOCK_ENTRIES // max(len(self.names), 1), FEWEST_ROWS)
        for start in range(0, max(len(self.table), 1), step):
            part = slice(start, start + step)
            table = self.table[part] if self.columns is None else self.table[part, self.columns]
            yield Block.from_table(table, None if self.weights is None else self.weights[part])

    def _told(self, results: Iterator[tuple[int, S]]) -> Iterator[S]:
        for n_rows, sums in results:
            self.advance(n_rows)
            yield sums

    def _threaded(self, run: Callable[[Block], tuple[int, S]]) -> Iterator[tuple[int, S]]:
        """Results in order, never more than a few blocks ahead of what has been merged."""
        with threadpool_limits(1), ThreadPoolExecutor(self.n_threads) as pool:
            pending: deque[Future[tuple[int, S]]] = deque()
            for block in self.blocks():
                pending.append(pool.submit(run, block))
                if len(pending) > 2 * self.n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
