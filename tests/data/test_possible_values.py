"""What can be filled in is what a column can hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.block import Block
from halfseen.data.feature_sums import FeatureSums, PossibleValues

NAN, INF = np.nan, np.inf
cells = st.sampled_from([-3.0, 0.0, 0.5, 1.0, 2.0, 7.25, NAN])


def sums(table):
    return FeatureSums.of(Block.from_table(np.asarray(table, dtype=float)))


def possible(table):
    return PossibleValues.of(sums(table))


def limits(values):
    found = possible(np.reshape(values, (-1, 1)))
    return float(found.floor[0]), float(found.ceiling[0])


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
@given(arrays(float, (6, 3), elements=cells), st.integers(0, 6))
def test_entries_at_the_ends_are_counted_whatever_the_split(table, cut):
    parts, whole = sums(table[:cut]) + sums(table[cut:]), sums(table)
    np.testing.assert_array_equal(parts.n_lowest, whole.n_lowest)
    np.testing.assert_array_equal(parts.n_highest, whole.n_highest)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(arrays(float, (8, 2), elements=cells), arrays(float, (5, 2), elements=st.floats(-20, 20)))
def test_the_nearest_value_is_one_of_two_or_whole_and_not_beyond_a_limit(table, new):
    found = possible(table)
    for column, values, nearest, within, floor, ceiling in zip(
        table.T,
        new.T,
        found.nearest(new).T,
        found.within(new).T,
        found.floor,
        found.ceiling,
        strict=True,
    ):
        seen = np.unique(column[~np.isnan(column)])
        if not len(seen):
            np.testing.assert_array_equal(nearest, values)
            continue
        assert ((within >= floor) & (within <= ceiling)).all()
        inside = (values >= floor) & (values <= ceiling)
        np.testing.assert_array_equal(within[inside], values[inside])
        assert set(within[~inside]) <= set(seen)
        if len(seen) <= 2:
            distance = np.abs(seen[:, None] - values).min(axis=0)
            np.testing.assert_allclose(np.abs(nearest - values), distance, atol=1e-12)
            assert set(nearest) <= set(seen)
        elif (seen % 1 == 0).all():
            assert (nearest % 1 == 0).all()
            assert (np.abs(nearest - within) <= 0.5 + 1e-12)[inside].all()


rng = np.random.default_rng(0)
normal = rng.normal(size=500)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (normal, (-INF, INF)),
        (normal + 5, (-INF, INF)),  # no value is negative, and none near zero
        (normal.round(1) + 5, (-INF, INF)),
        (np.round(10 * normal) + 80, (-INF, INF)),  # whole numbers
        (np.abs(normal), (0, INF)),
        (np.exp(normal) + 0.2, (0, INF)),  # skewed away from zero
        (rng.poisson(1.5, 500), (0, INF)),
        (-rng.exponential(size=500), (-INF, 0)),
        (np.minimum(normal, 1.0), (-INF, 1)),  # 16 % pile up at the highest value
        (rng.integers(1, 6, 500), (1, 5)),
        (np.where(normal > 0, 3.0, -1.0), (-1, 3)),
        ([NAN], (-INF, INF)),
        ([2.0, 2.0, NAN], (2, 2)),
    ],
)
def test_limits_are_what_is_impossible_and_not_the_ends_of_the_sample(values, expected):
    assert limits(values) == expected


@pytest.mark.parametrize("factor", [1e-3, 7.0, -2.0])
def test_limits_follow_the_unit_and_the_sign_of_a_column(factor):
    for values in (np.exp(normal), normal + 5, np.minimum(normal, 1.0)):
        expected = sorted(factor * end for end in limits(values))
        assert limits(factor * values) == pytest.approx(tuple(expected))


def test_what_is_beyond_a_limit_becomes_the_nearest_value_that_was_seen():
    found = possible(np.exp(normal)[:, None] + 0.2)
    np.testing.assert_array_equal(
        found.within(np.array([[-1.0], [0.01], [1e3]]))[:, 0], [found.low[0], 0.01, 1e3]
    )


def test_whole_numbers_beyond_the_sample_are_whole_still():
    found = possible((np.round(10 * normal) + 80)[:, None])
    np.testing.assert_array_equal(found.nearest(np.array([[140.3], [-3.6]])), [[140], [-4]])


def test_ranges_of_two_values_are_within_their_limits_to_the_last_digit():
    rng = np.random.default_rng(0)
    for low, high in rng.normal(size=(200, 2)):
        found = possible([[low], [high]]).narrowed(np.array([[NAN], [NAN]]))
        assert found.floor <= found.low
        assert found.high <= found.ceiling
