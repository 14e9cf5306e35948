"""Columns have an order of their own, wherever they stand and however rows are sorted."""

import numpy as np
import pytest

from halfseen.rows.own_order import own_order


def tables():
    rng = np.random.default_rng(0)
    measured = rng.normal(size=(40, 5))
    gappy = np.where(rng.random((40, 5)) < 0.3, np.nan, measured)
    ticked = (rng.random((40, 5)) < 0.4).astype(float)  # ends in common
    shuffled = np.column_stack([rng.permutation(measured[:, 0]) for _ in range(5)])  # all in common
    return {"measured": measured, "gappy": gappy, "ticked": ticked, "shuffled": shuffled}


@pytest.mark.parametrize("name", tables())
def test_any_order_of_columns_and_rows_gives_the_same_columns(name):
    table, rng = tables()[name], np.random.default_rng(1)
    columns = table[:, own_order(table)]
    for _ in range(5):
        rows = rng.permutation(len(table))
        other = table[rows][:, rng.permutation(table.shape[1])]
        np.testing.assert_array_equal(other[:, own_order(other)], columns[rows])
        often = np.repeat(other, rng.integers(1, 4, len(other)), axis=0)
        np.testing.assert_array_equal(other[:, own_order(often)], columns[rows])


def test_columns_of_gaps_have_a_place_too():
    table = np.array([[np.nan, 1.0, np.nan], [np.nan, 2.0, 5.0]])
    assert own_order(table).tolist() == [1, 2, 0]
