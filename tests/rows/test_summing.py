"""Sums over blocks in threads."""

from collections.abc import Iterator

import numpy as np
import pytest

from halfseen.rows.rows import Block
from halfseen.rows.summing import nobody, sum_over

all_threads = pytest.mark.parametrize("n_threads", [1, 2, 3])


def numbered(n_blocks: int) -> Iterator[Block]:
    """Blocks of 1, 2, 3, ... rows that all hold the block's number."""
    for number in range(n_blocks):
        yield Block.from_table(np.full((number + 1, 1), float(number)))


def number_of(block: Block) -> list[float]:
    """Lists add by concatenation, so that their sum shows the order of merging."""
    return [block.values[0, 0]]


@all_threads
@pytest.mark.parametrize("n_blocks", [1, 2, 30])
def test_every_block_is_summed_once_in_order(n_threads, n_blocks):
    summed = sum_over(numbered(n_blocks), number_of, n_threads, nobody)
    assert summed == list(range(n_blocks))


@all_threads
def test_progress_is_told_of_each_block_in_order(n_threads):
    told: list[int] = []
    sum_over(numbered(30), number_of, n_threads, told.append)
    assert told == list(range(1, 31))


@all_threads
def test_blocks_are_cut_only_a_few_ahead_of_what_is_merged(n_threads):
    cut, ahead = 0, []

    def counted() -> Iterator[Block]:
        nonlocal cut
        for block in numbered(60):
            cut += 1
            yield block

    sum_over(counted(), number_of, n_threads, lambda n_rows: ahead.append(cut - n_rows))
    assert max(ahead) <= 2 * n_threads
