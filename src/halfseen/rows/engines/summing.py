"""Sums over blocks of rows, in this process."""

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from halfseen.rows.block import Block
from halfseen.rows.rows import S

Told = Callable[[int], None]
"""Hears how many rows each block that is done had."""

P = TypeVar("P")
R = TypeVar("R")

LONGEST_RUN = 8
FEWEST_RUNS = 32

# glibc hands memory of freed arrays back to the system, and a pass that gets it again page by page
# spends more time on that than on its sums. It keeps what is smaller than an array that was freed
# before, up to 32 MB. This is that array; it is never touched, so it takes no memory.
np.empty(31 << 20, dtype=np.uint8)


def nobody(n_rows: int) -> None:
    """Hear nothing."""


def sum_over(
    blocks: Iterable[Block], summarise: Callable[[Block], S], n_threads: int, told: Told
) -> S:
    """The sum of ``summarise(block)`` over ``blocks``, of which there is at least one.

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
    """:func:`sum_over` blocks that the threads make themselves, from the pieces of each run.

    A thread takes one run after the other. What it costs to hand one over is shared by its blocks.
    """

    def summed(run: Sequence[P]) -> tuple[list[int], S]:
        lengths: list[int] = []

        def one(piece: P) -> S:
            block = block_of(piece)
            lengths.append(len(block))
            return summarise(block)

        return lengths, _merged(map(one, run))

    def heard(result: tuple[list[int], S]) -> S:
        lengths, sums = result
        for n_rows in lengths:
            told(n_rows)
        return sums

    results = map(summed, runs) if n_threads == 1 else _threaded(runs, summed, n_threads)
    return _merged(map(heard, results))


def in_runs(pieces: Sequence[P]) -> list[Sequence[P]]:
    """Pieces of a table cut into runs, the same for every number of threads."""
    length = min(max(len(pieces) // FEWEST_RUNS, 1), LONGEST_RUN)
    return [pieces[start : start + length] for start in range(0, len(pieces), length)]


def as_it_is(block: Block) -> Block:
    """A piece that is a block."""
    return block


def _merged(sums: Iterable[S]) -> S:
    # In place where sums can: of three large ones, one fewer is held at a time.
    return reduce(operator.iadd, sums)


def _threaded(
    runs: Iterable[Sequence[P]], summed: Callable[[Sequence[P]], R], n_threads: int
) -> Iterator[R]:
    """Results in order, never more than a few runs ahead of what has been merged."""
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[R]] = deque()
        for run in runs:
            pending.append(pool.submit(summed, run))
            if len(pending) > n_threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
