"""Rows drawn by lot in one pass: the same whatever the engine, each counting as before."""

import numpy as np
import pytest

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import keys_of
from halfseen.data.sampling import sample_shuffled
from tests.data.test_sampling import N_ROWS, NAMES, TABLE, every_engine

FILLED = np.flatnonzero(~np.isnan(TABLE).all(axis=1))


def drawn(most):
    """Numbers of the rows with the lowest keys, these first."""
    return FILLED[np.argsort(keys_of(FILLED))][:most]


@every_engine
@pytest.mark.parametrize("most", [1, 250, N_ROWS])
def test_the_rows_with_the_lowest_keys_are_kept_whatever_the_engine(rows, most):
    sample = sample_shuffled(rows(), most)
    np.testing.assert_array_equal(sample.table, TABLE[drawn(most)])
    assert sample.names == NAMES
    assert sample.weights is None


def test_rows_count_as_before():
    weights = np.random.default_rng(0).uniform(0.5, 3, N_ROWS)
    sample = sample_shuffled(MemoryRows(TABLE, NAMES, weights), 100)
    np.testing.assert_array_equal(sample.weights, weights[drawn(100)])


@pytest.mark.parametrize("weight", [1e-3, 1.0, 1e6])
def test_how_much_rows_count_does_not_say_how_many_are_drawn(weight):
    sample = sample_shuffled(MemoryRows(TABLE, NAMES, np.full(N_ROWS, weight)), 100)
    np.testing.assert_array_equal(sample.table, TABLE[drawn(100)])


def test_rows_that_do_not_count_or_hold_nothing_are_not_drawn():
    weights, table = np.ones(N_ROWS), TABLE.copy()
    weights[::2], table[1::4] = 0.0, np.nan
    there = np.flatnonzero((weights > 0) & ~np.isnan(table).all(axis=1))
    sample = sample_shuffled(MemoryRows(table, NAMES, weights), 10**6)
    assert len(sample.table) == len(there)
    for column, expected in zip(sample.table.T, table[there].T, strict=True):
        np.testing.assert_array_equal(np.sort(column), np.sort(expected))


def test_the_first_of_them_are_as_good_a_sample_of_a_sorted_table():
    X = np.arange(10_000.0)[:, None]
    first = sample_shuffled(MemoryRows(X, ("a",)), 1000).table[:300, 0]
    for share in (0.25, 0.5, 0.75):
        assert np.mean(first < 10_000 * share) == pytest.approx(share, abs=0.1)


def test_no_rows_give_none():
    assert sample_shuffled(MemoryRows(TABLE[:0], NAMES), 10).table.shape == (0, 4)
