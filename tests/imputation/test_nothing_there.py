"""Gaps that go with zeros of another column."""

import numpy as np
import pytest

from halfseen.imputation.fitting import zero_beside

N = 400


@pytest.fixture
def table():
    """Fireplaces, their quality, and a column that has nothing to do with them."""
    rng = np.random.default_rng(0)
    fires = rng.integers(3, size=N).astype(float)
    quality = np.where(fires > 0, rng.normal(size=N), np.nan)
    return np.column_stack([fires, quality, rng.normal(size=N)])


def found(table, numbers=None):
    numbers = np.ones(table.shape[1], bool) if numbers is None else np.array(numbers)
    return zero_beside(table, numbers).tolist()


def test_gaps_that_go_with_zeros_are_found(table):
    assert found(table) == [-1, 0, -1]


def test_a_few_that_do_not_agree_make_no_difference_and_many_do(table):
    known = np.flatnonzero(table[:, 0] > 0)
    table[known[:5], 1] = np.nan
    assert found(table) == [-1, 0, -1]
    table[known[:30], 1] = np.nan
    assert found(table) == [-1, -1, -1]


def test_zeros_of_words_are_codes(table):
    assert found(table, [False, True, True]) == [-1, -1, -1]


def test_columns_that_are_nearly_all_gaps_and_nearly_all_zeros_do_not_go_together_by_that():
    rng = np.random.default_rng(1)
    zeros = np.where(rng.random(2000) < 0.98, 0.0, 1.0)
    gaps = np.where(rng.random(2000) < 0.98, np.nan, 1.0)
    assert found(np.column_stack([zeros, gaps])) == [-1, -1]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (5, 1)])
def test_tables_of_hardly_anything_have_none(shape):
    assert found(np.full(shape, np.nan)) == [-1] * shape[1]
