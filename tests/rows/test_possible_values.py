"""What can be filled in is what a column can hold."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.rows.block import Block
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.possible_values import PossibleValues

NAN = np.nan
cells = st.sampled_from([-3.0, 0.0, 0.5, 1.0, 2.0, 7.25, NAN])


def possible(table):
    return PossibleValues.of(FeatureSums.of(Block.from_table(np.asarray(table, dtype=float))))


def test_whole_numbers_two_values_and_anything_have_their_steps():
    found = possible([[1, 0, 0.5, 2.5, NAN], [4, 100, 0, 1.0, NAN], [2, 0, 0, NAN, NAN]])
    np.testing.assert_array_equal(found.step, [1, 100, 0.5, 1.5, 0])
    np.testing.assert_array_equal(found.low, [1, 0, 0, 1, -np.inf])
    np.testing.assert_array_equal(found.high, [4, 100, 0.5, 2.5, np.inf])
    np.testing.assert_array_equal(found.whole, [True, True, False, False, False])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(arrays(float, (6, 3), elements=cells), st.integers(0, 6))
def test_two_values_are_known_whatever_the_split(table, cut):
    parts = [FeatureSums.of(Block.from_table(part)) for part in (table[:cut], table[cut:])]
    naive = [len(set(column[~np.isnan(column)])) <= 2 for column in table.T]
    np.testing.assert_array_equal((parts[0] + parts[1]).two_valued, naive)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(arrays(float, (8, 2), elements=cells), arrays(float, (5, 2), elements=st.floats(-20, 20)))
def test_the_nearest_value_is_one_that_was_seen_or_a_whole_number_between(table, new):
    found = possible(table)
    for column, values, nearest, within in zip(
        table.T, new.T, found.nearest(new).T, found.within(new).T, strict=True
    ):
        seen = np.unique(column[~np.isnan(column)])
        if not len(seen):
            np.testing.assert_array_equal(nearest, values)
            continue
        np.testing.assert_array_equal(within, np.clip(values, seen[0], seen[-1]))
        if len(seen) <= 2:
            choices = seen
        elif (seen % 1 == 0).all():
            choices = np.arange(seen[0], seen[-1] + 1)
        else:
            choices = within
        distance = np.abs(choices[:, None] - values).min(axis=0)
        np.testing.assert_allclose(np.abs(nearest - values), distance, atol=1e-12)
        assert set(nearest) <= set(choices)
