"""Sums over blocks in threads."""

from collections.abc import Iterator

import numpy as np
import pytest

from halfseen.data.engines.memory import (
    FEWEST_RUNS,
    LONGEST_RUN,
    as_it_is,
    in_runs,
    sum_over,
    sum_over_runs,
)
from halfseen.data.rows import Block

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
    summed = sum_over(numbered(n_blocks), number_of, n_threads, None)
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


@pytest.mark.parametrize("n_pieces", [1, 2, FEWEST_RUNS, 100, 1000])
def test_runs_hold_every_piece_once_in_order_and_are_many_before_they_are_long(n_pieces):
    runs = in_runs(range(n_pieces))
    assert [piece for run in runs for piece in run] == list(range(n_pieces))
    assert max(map(len, runs)) <= LONGEST_RUN
    assert len(runs) >= min(n_pieces, FEWEST_RUNS)


@all_threads
@pytest.mark.parametrize("n_blocks", [1, 30, 100])
def test_blocks_of_runs_are_summed_and_told_of_once_in_order(n_threads, n_blocks):
    told: list[int] = []
    runs = in_runs(list(numbered(n_blocks)))
    summed = sum_over_runs(runs, as_it_is, number_of, n_threads, told.append)
    assert summed == list(range(n_blocks))
    assert told == list(range(1, n_blocks + 1))


@all_threads
def test_threads_do_not_change_which_sums_are_added_to_which(n_threads):
    blocks = [Block.from_table(np.array([[x]])) for x in np.random.default_rng(0).random(300)]

    def total(block: Block) -> float:
        return float(block.values.sum())

    one = sum_over_runs(in_runs(blocks), as_it_is, total, 1, None)
    assert sum_over_runs(in_runs(blocks), as_it_is, total, n_threads, None) == one
