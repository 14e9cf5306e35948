"""Columns have a canonical order, wherever they stand, however rows are sorted, in all units."""

import numpy as np
import pytest

from halfseen.data.canonical_order import canonical_order


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
    columns = table[:, canonical_order(table).columns]
    for _ in range(5):
        rows = rng.permutation(len(table))
        other = table[rows][:, rng.permutation(table.shape[1])]
        np.testing.assert_array_equal(other[:, canonical_order(other).columns], columns[rows])
        often = np.repeat(other, rng.integers(1, 4, len(other)), axis=0)
        np.testing.assert_array_equal(other[:, canonical_order(often).columns], columns[rows])


def test_columns_of_gaps_have_a_place_too():
    table = np.array([[np.nan, 1.0, np.nan], [np.nan, 2.0, 5.0]])
    assert canonical_order(table).columns.tolist() == [2, 1, 0]


@pytest.mark.parametrize("name", tables())
def test_units_and_their_direction_do_not_matter(name):
    table, rng = tables()[name], np.random.default_rng(2)
    order = canonical_order(table)
    rows = np.lexsort(order.sortable(table).T)
    for _ in range(5):
        unit = rng.choice([0.001, 0.1, 10.0, 1000.0], 5)
        other = canonical_order(table * unit + rng.normal(size=5))
        np.testing.assert_array_equal(other.columns, order.columns)
        np.testing.assert_array_equal(np.lexsort(other.sortable(table * unit).T), rows)
    if name in ("measured", "gappy"):  # of two values neither is the first
        turned = canonical_order(-table)
        np.testing.assert_array_equal(turned.columns, order.columns)
        np.testing.assert_array_equal(np.lexsort(turned.sortable(-table).T), rows)
