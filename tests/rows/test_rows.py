"""Blocks of rows."""

import numpy as np
import pytest

from halfseen.rows.rows import Block

NAN = np.nan


@pytest.fixture
def table():
    return np.array([[1.0, NAN, 3.0], [NAN, NAN, NAN], [4.0, 5.0, NAN]])


def test_gaps_are_unobserved_and_hold_zero(table):
    block = Block.from_table(table)
    np.testing.assert_array_equal(block.observed, [[1, 0, 1], [0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(block.values, [[1, 0, 3], [0, 0, 0], [4, 5, 0]])
    assert block.weights is None


def test_a_zero_that_is_there_is_observed():
    block = Block.from_table(np.array([[0.0, NAN]]))
    np.testing.assert_array_equal(block.observed, [[True, False]])


def test_the_table_is_left_as_it_was(table):
    before = table.copy()
    Block.from_table(table, np.array([0.0, 1.0, 2.0]))
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_values_are_doubles_whatever_the_table_is(dtype):
    block = Block.from_table(np.array([[1, 2], [3, 4]], dtype=dtype))
    assert block.values.dtype == np.float64
    np.testing.assert_array_equal(block.values, [[1, 2], [3, 4]])


def test_rows_of_no_weight_are_not_there(table):
    block = Block.from_table(table, np.array([0.0, 0.5, 2.0]))
    np.testing.assert_array_equal(block.values, [[0, 0, 0], [4, 5, 0]])
    np.testing.assert_array_equal(block.observed, [[0, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(block.weights, [0.5, 2.0])


def test_a_block_may_have_no_rows():
    block = Block.from_table(np.empty((0, 3)), np.empty(0))
    assert block.values.shape == block.observed.shape == (0, 3)


def test_deviations_are_zero_in_the_gaps(table):
    deviations = Block.from_table(table).about(np.array([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(deviations, [[0, 0, -97], [0, 0, 0], [3, -5, 0]])


def test_select_keeps_rows_and_their_weights(table):
    block = Block.from_table(table, np.array([1.0, 0.0, 3.0]))
    chosen = block.select(np.array([True, False, True]))
    np.testing.assert_array_equal(chosen.values, [[1, 3], [4, 0]])
    np.testing.assert_array_equal(chosen.observed, [[1, 1], [1, 0]])
    np.testing.assert_array_equal(chosen.weights, [1, 3])


def test_a_block_knows_which_row_of_the_table_is_its_first(table):
    block = Block.from_table(table, np.array([0.0, 1.0, 1.0]), start=256)
    assert block.start == block.select(np.array([True, False, True])).start == 256
    assert Block.from_table(table).start == 0


def test_selecting_commutes_with_cutting_the_table(table):
    features = np.array([False, True, True])
    ours, naive = Block.from_table(table).select(features), Block.from_table(table[:, features])
    np.testing.assert_array_equal(ours.values, naive.values)
    np.testing.assert_array_equal(ours.observed, naive.observed)


def test_weighed_multiplies_numbers_and_vectors_row_by_row(table):
    block = Block.from_table(table, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(block.weighed(np.array([1.0, 1.0, 10.0])), [1, 2, 30])
    vectors = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(block.weighed(vectors), [[1, 2], [6, 8], [15, 18]])


def test_without_weights_every_row_counts_once(table):
    vectors = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(Block.from_table(table).weighed(vectors), vectors)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 3.0])])
def test_some_rows_of_a_block_keep_their_values_gaps_and_weights(table, weights):
    block, chosen = Block.from_table(table, weights), np.array([2, 0])
    some = block.rows(chosen)
    np.testing.assert_array_equal(some.values, block.values[chosen])
    np.testing.assert_array_equal(some.observed, block.observed[chosen])
    assert (some.weights is None) == (weights is None)
    np.testing.assert_array_equal(some.weighed(np.ones(2)), block.weighed(np.ones(3))[chosen])


def test_weights_are_replaced_and_rows_stay(table):
    block = Block.from_table(table, np.array([1.0, 2.0, 3.0]), start=7)
    other = block.with_weights(np.array([5.0, 1.0, 0.5]))
    assert other.values is block.values
    assert other.start == 7
    np.testing.assert_array_equal(other.weights, [5.0, 1.0, 0.5])
    np.testing.assert_array_equal(block.weights, [1.0, 2.0, 3.0])
