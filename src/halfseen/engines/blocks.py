"""Sums over blocks of rows, in this process."""

import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import reduce

from threadpoolctl import threadpool_limits

from halfseen.core.rows import Block, S

Told = Callable[[int], None]
"""Hears how many rows each block that is done had."""


def nobody(n_rows: int) -> None:
    """Hear nothing."""


def sum_over(
    blocks: Iterable[Block], summarise: Callable[[Block], S], n_threads: int, told: Told
) -> S:
    """The sum of ``summarise(block)`` over ``blocks``, of which there is at least one.

    Sums are merged in the order of the blocks whatever thread is done first, so the number of
    threads does not change which sums are added to which.
    """

    def run(block: Block) -> tuple[int, S]:
        return len(block), summarise(block)

    def heard(results: Iterable[tuple[int, S]]) -> Iterator[S]:
        for n_rows, sums in results:
            told(n_rows)
            yield sums

    results = map(run, blocks) if n_threads == 1 else _threaded(blocks, run, n_threads)
    # In place where sums can: of three large ones, one fewer is held at a time.
    return reduce(operator.iadd, heard(results))


def _threaded(
    blocks: Iterable[Block], run: Callable[[Block], tuple[int, S]], n_threads: int
) -> Iterator[tuple[int, S]]:
    """Results in order, never more than a few blocks ahead of what has been merged."""
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        pending: deque[Future[tuple[int, S]]] = deque()
        for block in blocks:
            pending.append(pool.submit(run, block))
            if len(pending) > n_threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
