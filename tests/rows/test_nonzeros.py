"""Counts above zero against loops over the table."""

from math import lgamma

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.rows.nonzeros import Nonzeros

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
def test_totals_and_log_factorials_are_sums_over_rows(table):
    nonzeros = Nonzeros.of(table)
    np.testing.assert_array_equal(nonzeros.totals(), [row.sum() for row in table])
    expected = [sum(lgamma(x + 1) for x in row) for row in table]
    np.testing.assert_allclose(nonzeros.log_factorials(), expected, rtol=1e-13, atol=1e-13)
