"""Counts above zero against loops over the table."""

from math import lgamma

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.counts import Nonzeros
from halfseen.data.rows import Block
from halfseen.latent.loadings import log_factorials

tables = st.tuples(st.integers(0, 6), st.integers(0, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 300.0]))
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tables)
def test_every_count_above_zero_is_there_once_in_order(table):
    starts, features, counts = Nonzeros.of(table)
    assert starts[0] == 0
    assert len(starts) == len(table) + 1
    for n, row in enumerate(table):
        inside = slice(starts[n], starts[n + 1])
        naive = [(i, x) for i, x in enumerate(row) if x > 0]
        assert list(zip(features[inside], counts[inside], strict=True)) == naive
    assert starts[-1] == len(features) == len(counts)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tables)
def test_totals_and_other_sums_are_over_rows(table):
    nonzeros = Nonzeros.of(table)
    np.testing.assert_array_equal(nonzeros.totals(), [row.sum() for row in table])
    expected = [sum(x**2 for x in row) for row in table]
    np.testing.assert_allclose(nonzeros.row_sums(nonzeros.counts**2), expected, rtol=1e-13)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tables)
def test_totals_but_the_largest_leave_one_count_out(table):
    expected = [row.sum() - row.max(initial=0.0) for row in table]
    np.testing.assert_array_equal(Nonzeros.of(table).totals_but_largest(), expected)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tables, st.integers(0, 3))
def test_a_table_as_it_came_has_the_same_counts(table, left_out):
    gappy = np.where(table == 2.0, np.nan, table)
    chosen = np.arange(table.shape[1]) != left_out
    ours = Block.from_table(gappy).select(chosen).nonzeros()
    theirs = Nonzeros.of(np.nan_to_num(gappy[:, chosen]))
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(tables)
def test_factorials_of_a_row_are_those_of_its_counts(table):
    expected = [sum(lgamma(x + 1) for x in row) for row in table]
    found = log_factorials(Block.from_table(table))
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
