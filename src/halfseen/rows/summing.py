"""Sums over blocks of rows, in this process."""

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce
from typing import TypeVar

from threadpoolctl import threadpool_limits

from halfseen.rows.rows import Block, S

Told = Callable[[int], None]
"""Hears how many rows each block that is done had."""

P = TypeVar("P")


def nobody(n_rows: int) -> None:
    """Hear nothing."""


def sum_over(
    blocks: Iterable[Block], summarise: Callable[[Block], S], n_threads: int, told: Told
) -> S:
    """The sum of ``summarise(block)`` over ``blocks``, of which there is at least one.

    Sums are merged in the order of the blocks whatever thread is done first, so the number of
    threads does not change which sums are added to which.
    """
    return sum_over_pieces(blocks, _as_it_is, summarise, n_threads, told)


def sum_over_pieces(
    pieces: Iterable[P],
    block_of: Callable[[P], Block],
    summarise: Callable[[Block], S],
    n_threads: int,
    told: Told,
) -> S:
    """:func:`sum_over` blocks that the threads make themselves, each from its piece."""

    def run(piece: P) -> tuple[int, S]:
        block = block_of(piece)
        return len(block), summarise(block)

    def heard(results: Iterable[tuple[int, S]]) -> Iterator[S]:
        for n_rows, sums in results:
            told(n_rows)
            yield sums

    results = map(run, pieces) if n_threads == 1 else _threaded(pieces, run, n_threads)
    # In place where sums can: of three large ones, one fewer is held at a time.
    return reduce(operator.iadd, heard(results))


def _as_it_is(block: Block) -> Block:
    return block


def _threaded(
    pieces: Iterable[P], run: Callable[[P], tuple[int, S]], n_threads: int
) -> Iterator[tuple[int, S]]:
    """Results in order, never more than a few pieces ahead of what has been merged."""
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[tuple[int, S]]] = deque()
        for piece in pieces:
            pending.append(pool.submit(run, piece))
            if len(pending) > n_threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
