"""Blocks of rows: of a table as it came, and of arrays that are ready."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.block import Block, made_once

NAN = np.nan


def ready(table, weights=None, start=0):
    """The same block from arrays that are made as one would write it first."""
    if weights is not None:
        table, weights = table[weights > 0], weights[weights > 0]
    observed = ~np.isnan(table)
    values = np.where(observed, table, 0.0).astype(np.float64)
    return Block(values, observed, weights, start)


BLOCKS = {"as it came": Block.from_table, "ready": ready}


@pytest.fixture(params=BLOCKS.values(), ids=BLOCKS)
def block_of(request):
    return request.param


@pytest.fixture
def table():
    return np.array([[1.0, NAN, 3.0], [NAN, NAN, NAN], [4.0, 5.0, NAN]])


def test_gaps_are_unobserved_and_hold_zero(table, block_of):
    block = block_of(table)
    np.testing.assert_array_equal(block.observed, [[1, 0, 1], [0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(block.values, [[1, 0, 3], [0, 0, 0], [4, 5, 0]])
    assert block.weights is None


def test_a_zero_that_is_there_is_observed(block_of):
    block = block_of(np.array([[0.0, NAN]]))
    np.testing.assert_array_equal(block.observed, [[True, False]])


def test_the_table_is_left_as_it_was(table):
    before = table.copy()
    block = Block.from_table(table, np.array([0.0, 1.0, 2.0]))
    block.about(np.ones(3))
    block.feature_sums()
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_values_are_doubles_whatever_the_table_is(dtype):
    block = Block.from_table(np.array([[1, 2], [3, 4]], dtype=dtype))
    assert block.values.dtype == np.float64
    np.testing.assert_array_equal(block.values, [[1, 2], [3, 4]])


def test_rows_of_no_weight_are_not_there(table, block_of):
    block = block_of(table, np.array([0.0, 0.5, 2.0]))
    assert len(block) == 2
    np.testing.assert_array_equal(block.values, [[0, 0, 0], [4, 5, 0]])
    np.testing.assert_array_equal(block.observed, [[0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(block.weights, [0.5, 2.0])


def test_a_block_may_have_no_rows(block_of):
    block = block_of(np.empty((0, 3)), np.empty(0))
    assert len(block) == 0
    assert block.values.shape == block.observed.shape == (0, 3)


def test_deviations_are_zero_in_the_gaps(table, block_of):
    deviations = block_of(table).about(np.array([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(deviations, [[0, 0, -97], [0, 0, 0], [3, -5, 0]])


def test_select_keeps_rows_and_their_weights(table, block_of):
    block = block_of(table, np.array([1.0, 0.0, 3.0]))
    chosen = block.select(np.array([True, False, True]))
    np.testing.assert_array_equal(chosen.values, [[1, 3], [4, 0]])
    np.testing.assert_array_equal(chosen.observed, [[1, 1], [1, 0]])
    np.testing.assert_array_equal(chosen.weights, [1, 3])


def test_a_block_knows_which_row_of_the_table_is_its_first(table, block_of):
    block = block_of(table, np.array([0.0, 1.0, 1.0]), start=256)
    assert block.start == block.select(np.array([True, False, True])).start == 256
    assert block_of(table).start == 0


def test_selecting_commutes_with_cutting_the_table(table, block_of):
    features = np.array([False, True, True])
    ours, naive = block_of(table).select(features), block_of(table[:, features])
    np.testing.assert_array_equal(ours.values, naive.values)
    np.testing.assert_array_equal(ours.observed, naive.observed)


def test_weighed_multiplies_numbers_and_vectors_row_by_row(table, block_of):
    block = block_of(table, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(block.weighed(np.array([1.0, 1.0, 10.0])), [1, 2, 30])
    vectors = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(block.weighed(vectors), [[1, 2], [6, 8], [15, 18]])


def test_without_weights_every_row_counts_once(table, block_of):
    vectors = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(block_of(table).weighed(vectors), vectors)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 3.0])])
def test_some_rows_of_a_block_keep_their_values_gaps_and_weights(table, weights, block_of):
    block, chosen = block_of(table, weights), np.array([2, 0])
    some = block.rows(chosen)
    np.testing.assert_array_equal(some.values, block.values[chosen])
    np.testing.assert_array_equal(some.observed, block.observed[chosen])
    assert (some.weights is None) == (weights is None)
    np.testing.assert_array_equal(some.weighed(np.ones(2)), block.weighed(np.ones(3))[chosen])


def test_weights_are_replaced_and_rows_stay(table, block_of):
    block = block_of(table, np.array([1.0, 2.0, 3.0]), start=7)
    other = block.with_weights(np.array([5.0, 1.0, 0.5]))
    for name in {"table", "columns"} & set(vars(block)) or {"values", "observed"}:
        assert getattr(other, name) is getattr(block, name)  # nothing is copied
    np.testing.assert_array_equal(other.values, block.values)
    assert other.start == 7
    np.testing.assert_array_equal(other.weights, [5.0, 1.0, 0.5])
    np.testing.assert_array_equal(block.weights, [1.0, 2.0, 3.0])


def test_recentred_rows_are_those_of_the_shifted_table(table, block_of):
    weights, origin = np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])
    ours, naive = block_of(table, weights, 5).recentred(origin), ready(table - origin, weights)
    np.testing.assert_array_equal(ours.values, naive.values)
    np.testing.assert_array_equal(ours.observed, naive.observed)
    np.testing.assert_array_equal(ours.weights, weights)
    assert ours.start == 5


def entries_like(naive, ours):
    """Whether a block holds what the other does, whatever it is asked for."""
    d = naive.values.shape[1]
    origin, chosen = np.linspace(-1.0, 2.0, d), np.arange(d) % 3 != 1
    for one, other in [(ours, naive), (ours.select(chosen), naive.select(chosen))]:
        about = origin if one is ours else origin[chosen]
        np.testing.assert_array_equal(one.about(about), other.about(about))
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.observed, other.observed)
    np.testing.assert_array_equal(
        ours.weighed(np.ones(len(ours))), naive.weighed(np.ones(len(naive)))
    )


numbers = st.sampled_from([-3.0, -0.25, 0.0, 1.5, 7.0, NAN])


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, 70), st.integers(0, 5))
def test_a_block_as_it_came_holds_what_a_naive_one_does(data, n, d):
    table = data.draw(arrays(float, (n, d), elements=numbers))
    weights = data.draw(st.none() | arrays(float, n, elements=st.sampled_from([0.0, 0.5, 2.0])))
    entries_like(ready(table, weights), Block.from_table(table, weights))


LAYOUTS = {
    "single precision": lambda table: table.astype(np.float32),
    "column by column": np.asfortranarray,
    "every other column": lambda table: np.repeat(table, 2, axis=1)[:, ::2],
    "rows backwards": lambda table: table[::-1].copy()[::-1],
    "other byte order": lambda table: table.astype(">f8"),
    "read only": lambda table: np.broadcast_to(table[None], (1, *table.shape))[0],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_how_a_table_lies_in_memory_does_not_matter(layout):
    rng = np.random.default_rng(0)
    table = rng.integers(-8, 9, size=(70, 5)) / 4
    table[rng.random(table.shape) < 0.3] = NAN
    entries_like(ready(table), Block.from_table(layout(table)))


def test_only_some_columns_of_a_table_may_be_its_features(table):
    columns = np.array([0, 2])
    for given_table in (table, np.asfortranarray(table)):
        block = Block.from_table(given_table, columns=columns)
        entries_like(ready(table[:, columns]), block)
        np.testing.assert_array_equal(block.feature_sums().count, [2, 1])


def test_doubles_row_by_row_are_not_copied(table):
    block = Block.from_table(table)
    assert block.table is table
    assert block.select(np.array([True, False, True])).table is table
    assert Block.from_table(table, np.ones(3)).table is table


def test_arrays_are_made_once_and_lie_feature_by_feature(table):
    block = Block.from_table(table)
    assert block.observed is block.observed
    assert block.values is block.values
    for array in (block.values, block.observed, block.about(np.zeros(3))):
        assert array.T.flags.c_contiguous


def test_threads_make_arrays_of_their_blocks_at_the_same_time():
    both = Barrier(2, timeout=10)

    class Slow:
        @made_once
        def made(self):
            """Waits for the other."""
            return both.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda slow: slow.made, [Slow(), Slow()])) == [0, 1]
