"""Rows of an array: how they are cut and which thread sums them must not matter."""

import time
from dataclasses import astuple
from typing import Any

import numpy as np
import pytest

from halfseen.data.engines.memory import BLOCK_ENTRIES, FEWEST_ROWS, MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

NAMES = tuple("abcde")
ORIGIN = np.linspace(-1.0, 1.0, 5)
SUMMARIES = {
    "features": FeatureSums.of,
    "pairs": PairSums.about(ORIGIN),
    "triples": ThirdSums.about(ORIGIN),
}
all_sums = pytest.mark.parametrize("summarise", SUMMARIES.values(), ids=SUMMARIES)
all_threads = pytest.mark.parametrize("n_threads", [1, 2, 3])


def table_with_gaps(n_rows: int = 50) -> np.ndarray:
    """Multiples of 1/4, so that sums of products are exact whatever their order."""
    generator = np.random.default_rng(n_rows)
    table = generator.integers(-8, 9, size=(n_rows, 5)) / 4
    table[generator.random(table.shape) < 0.3] = np.nan
    return table


@pytest.fixture
def blocks_of(monkeypatch):
    """Cut every table into blocks of so many rows."""

    def cut(n_rows: int) -> None:
        monkeypatch.setattr("halfseen.data.engines.memory.BLOCK_ENTRIES", 1)
        monkeypatch.setattr("halfseen.data.engines.memory.FEWEST_ROWS", n_rows)

    return cut


def assert_same(ours: Any, expected: Any) -> None:
    for one, other in zip(astuple(ours), astuple(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def first_column(block: Block) -> list[float]:
    """Lists add by concatenation, so that their sum shows the order of merging."""
    return block.values[:, 0].tolist()


@all_sums
@all_threads
@pytest.mark.parametrize("n_rows", [1, 3, 49, 50, 51])
def test_sums_do_not_depend_on_blocks_or_threads(blocks_of, summarise, n_threads, n_rows):
    blocks_of(n_rows)
    rows = MemoryRows(table_with_gaps(), NAMES, n_threads=n_threads)
    assert_same(rows.accumulate(summarise), summarise(Block.from_table(rows.table)))


@all_sums
@all_threads
def test_weights_stay_with_their_rows(blocks_of, summarise, n_threads):
    blocks_of(7)
    table, weights = table_with_gaps(), np.random.default_rng(0).integers(0, 9, 50) / 4
    rows = MemoryRows(table, NAMES, weights, n_threads)
    assert_same(rows.accumulate(summarise), summarise(Block.from_table(table, weights)))


@all_threads
def test_blocks_are_merged_in_the_order_of_the_rows(blocks_of, n_threads):
    blocks_of(2)
    table = np.arange(40.0).reshape(40, 1)

    def slow_at_first(block: Block) -> list[float]:
        time.sleep(0.02 if block.values[0, 0] % 8 == 0 else 0.0)
        return first_column(block)

    rows = MemoryRows(table, ("a",), n_threads=n_threads)
    assert rows.accumulate(slow_at_first) == list(range(40))


@pytest.mark.parametrize("n_rows", [1, 10, 49, 50, 1000])
def test_blocks_hold_every_row_once_in_order(blocks_of, n_rows):
    blocks_of(n_rows)
    blocks = list(MemoryRows(np.arange(50.0).reshape(50, 1), ("a",)).blocks())
    assert [x for block in blocks for x in first_column(block)] == list(range(50))
    assert [len(block.values) for block in blocks[:-1]] == [n_rows] * (len(blocks) - 1)


def test_blocks_know_where_in_the_table_they_start(blocks_of):
    blocks_of(20)
    weights = np.tile([0.0, 1.0], 25)  # rows that are not there do not move the others
    blocks = MemoryRows(table_with_gaps(), NAMES, weights).blocks()
    assert [block.start for block in blocks] == [0, 20, 40]


@pytest.mark.parametrize("d", [1, 100, 1000])
def test_blocks_are_small_enough_for_the_cache_but_never_tiny(d):
    table = np.zeros((max(BLOCK_ENTRIES // d, FEWEST_ROWS) + 1, d))
    sizes = [len(block.values) for block in MemoryRows(table, ("x",) * d).blocks()]
    assert sizes == [len(table) - 1, 1]


@all_sums
@all_threads
def test_a_table_of_no_rows_gives_neutral_sums(summarise, n_threads):
    empty = MemoryRows(np.empty((0, 5)), NAMES, n_threads=n_threads).accumulate(summarise)
    sums = summarise(Block.from_table(table_with_gaps()))
    assert_same(empty + sums, sums)


@all_threads
@pytest.mark.parametrize("n_rows", [1, 7, 1000])
def test_progress_is_told_of_every_row_once(blocks_of, n_threads, n_rows):
    blocks_of(n_rows)
    told: list[int] = []
    rows = MemoryRows(table_with_gaps(), NAMES, n_threads=n_threads, advance=told.append)
    rows.accumulate(FeatureSums.of)
    assert told == [len(block.values) for block in rows.blocks()]
    assert sum(told) == 50


@all_threads
def test_progress_goes_on_with_selected_features(blocks_of, n_threads):
    blocks_of(7)
    told: list[int] = []
    rows = MemoryRows(table_with_gaps(), NAMES, n_threads=n_threads, advance=told.append)
    rows.select(np.array([True, False, True, False, False])).accumulate(FeatureSums.of)
    assert sum(told) == 50


@all_threads
def test_selected_rows_are_rows_of_the_selected_columns(blocks_of, n_threads):
    blocks_of(7)
    features = np.array([True, False, True, True, False])
    table, weights = table_with_gaps(), np.arange(50.0)
    chosen = MemoryRows(table, NAMES, weights, n_threads).select(features)
    naive = MemoryRows(table[:, features], ("a", "c", "d"), weights)
    assert chosen.names == naive.names
    assert_same(chosen.accumulate(FeatureSums.of), naive.accumulate(FeatureSums.of))


def test_a_selection_of_a_selection_counts_from_the_first():
    rows = MemoryRows(table_with_gaps(), NAMES)
    first = rows.select(np.array([True, False, True, True, False]))
    twice = first.select(np.array([False, True, True]))
    naive = Block.from_table(rows.table[:, [2, 3]])
    assert twice.names == ("c", "d")
    assert_same(twice.accumulate(FeatureSums.of), FeatureSums.of(naive))
    assert first.names == ("a", "c", "d")  # as it was
    assert len(first.accumulate(FeatureSums.of).count) == 3


def test_a_selection_may_hold_nothing():
    nothing = MemoryRows(table_with_gaps(), NAMES).select(np.zeros(5, bool))
    assert nothing.names == ()
    assert nothing.accumulate(FeatureSums.of).count.shape == (0,)


@pytest.mark.parametrize("features", [[True], [True] * 6])
def test_a_selection_must_say_something_of_every_feature(features):
    rows = MemoryRows(table_with_gaps(), NAMES)
    with pytest.raises(ValueError):  # noqa: PT011 - the words are NumPy's
        rows.select(np.array(features))


@all_sums
@all_threads
def test_recentred_rows_are_rows_of_the_shifted_table(blocks_of, summarise, n_threads):
    blocks_of(7)
    table, weights, shift = table_with_gaps(), np.arange(50.0) / 4, np.arange(5.0) / 4
    recentred = MemoryRows(table, NAMES, weights, n_threads).recentred(shift)
    naive = summarise(Block.from_table(table - shift, weights))
    assert recentred.names == NAMES
    assert_same(recentred.accumulate(summarise), naive)
    assert_same(recentred.accumulate(summarise), naive)  # as often as one likes


def test_recentring_again_adds_the_shifts():
    rows, shift = MemoryRows(table_with_gaps(), NAMES), np.arange(5.0) / 4
    twice = rows.recentred(shift).recentred(2 * shift)
    naive = rows.recentred(3 * shift)
    assert_same(twice.accumulate(FeatureSums.of), naive.accumulate(FeatureSums.of))


def test_recentring_and_selecting_commute():
    rows, shift = MemoryRows(table_with_gaps(), NAMES), np.arange(5.0) / 4
    features = np.array([True, False, True, True, False])
    after = rows.recentred(shift).select(features)
    before = rows.select(features).recentred(shift[features])
    assert after.names == before.names == ("a", "c", "d")
    assert_same(after.accumulate(FeatureSums.of), before.accumulate(FeatureSums.of))


def test_progress_is_told_of_recentred_rows_at_every_pass(blocks_of):
    blocks_of(20)
    told: list[int] = []
    rows = MemoryRows(table_with_gaps(), NAMES, advance=told.append).recentred(np.zeros(5))
    rows.accumulate(FeatureSums.of)
    rows.accumulate(FeatureSums.of)
    assert told == [20, 20, 10] * 2


@all_sums
def test_single_precision_is_summed_in_double(blocks_of, summarise):
    blocks_of(7)
    table = np.random.default_rng(0).normal(1e3, 1.0, size=(50, 5)).astype(np.float32)
    table[::3, 1] = np.nan
    single, double = (MemoryRows(t, NAMES) for t in (table, table.astype(np.float64)))
    assert_same(single.accumulate(summarise), double.accumulate(summarise))
    assert next(single.blocks()).values.dtype == np.float64


@all_threads
@pytest.mark.parametrize("bad", [0, 21, 49])
def test_what_goes_wrong_in_a_block_is_raised(blocks_of, n_threads, bad):
    blocks_of(2)

    def fail(block: Block) -> list[float]:
        if bad in block.values[:, 0]:
            raise ZeroDivisionError(f"row {bad}")
        return first_column(block)

    rows = MemoryRows(np.arange(50.0).reshape(50, 1), ("a",), n_threads=n_threads)
    with pytest.raises(ZeroDivisionError, match=f"^row {bad}$"):
        rows.accumulate(fail)


@all_threads
def test_the_table_is_left_as_it_was(blocks_of, n_threads):
    blocks_of(7)
    rows = MemoryRows(table_with_gaps(), NAMES, n_threads=n_threads)
    rows.accumulate(ThirdSums.about(ORIGIN))
    np.testing.assert_array_equal(rows.table, table_with_gaps())
