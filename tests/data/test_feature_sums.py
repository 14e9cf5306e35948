"""What one pass over the rows says of each feature."""

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block

NAN, INF = np.nan, np.inf
TABLE = np.array(
    [
        [1.0, NAN, 0.5, -2.0],
        [NAN, NAN, NAN, NAN],
        [3.0, NAN, 1.0, NAN],
        [2.0, NAN, NAN, -7.0],
    ]
)


@pytest.fixture
def sums():
    return FeatureSums.of(Block.from_table(TABLE))


def test_only_observed_entries_count(sums):
    np.testing.assert_array_equal(sums.count, [3, 0, 2, 2])
    np.testing.assert_array_equal(sums.total, [6, 0, 1.5, -9])


def test_ranges_ignore_the_zeros_in_the_gaps(sums):
    np.testing.assert_array_equal(sums.minimum, [1, INF, 0.5, -7])
    np.testing.assert_array_equal(sums.maximum, [3, -INF, 1, -2])


def test_whole_says_whether_every_observed_value_is_a_whole_number(sums):
    np.testing.assert_array_equal(sums.whole, [True, True, False, True])


def test_rows_that_hold_nothing_are_counted_apart(sums):
    assert (sums.n_rows, sums.n_empty) == (3, 1)


def test_the_mean_is_that_of_the_observed_entries_and_nan_without_any(sums):
    np.testing.assert_array_equal(sums.mean, [2, NAN, 0.75, -4.5])


def test_the_observed_fraction_is_of_rows_that_hold_something(sums):
    np.testing.assert_allclose(sums.observed_fraction, [1, 0, 2 / 3, 2 / 3], rtol=1e-15)


def test_of_nothing_no_feature_is_observed():
    sums = FeatureSums.of(Block.from_table(np.empty((0, 2))))
    np.testing.assert_array_equal(sums.observed_fraction, [0, 0])
    np.testing.assert_array_equal(sums.mean, [NAN, NAN])


def test_weights_weigh_means_and_fractions_but_not_ranges():
    sums = FeatureSums.of(Block.from_table(TABLE, np.array([1.0, 5.0, 0.5, 2.5])))
    assert (sums.n_rows, sums.n_empty) == (4, 1)
    np.testing.assert_array_equal(sums.count, [4, 0, 1.5, 3.5])
    np.testing.assert_array_equal(sums.total, [7.5, 0, 1, -19.5])
    np.testing.assert_array_equal(sums.maximum, [3, -INF, 1, -2])


def test_selected_sums_are_sums_of_selected_features(sums):
    features = np.array([True, False, True, False])
    rows = TABLE[~np.isnan(TABLE).all(axis=1)][:, features]
    naive = FeatureSums.of(Block.from_table(rows))
    for ours, expected in zip(astuple(sums.select(features))[2:], astuple(naive)[2:], strict=True):
        np.testing.assert_array_equal(ours, expected)


def test_selecting_features_does_not_change_which_rows_are_empty():
    sums = FeatureSums.of(Block.from_table(np.array([[1.0, NAN], [NAN, NAN], [NAN, 2.0]])))
    chosen = sums.select(np.array([True, False]))
    assert (chosen.n_rows, chosen.n_empty) == (2, 1)
    np.testing.assert_array_equal(chosen.observed_fraction, [0.5])


def naive(table, weights):
    """The sums as one would write them first."""
    seen = ~np.isnan(table)
    values, filled = np.where(seen, table, 0.0), seen.any(axis=1)
    per_row = np.ones(len(table)) if weights is None else weights
    with np.errstate(invalid="ignore"):
        total = (values * per_row[:, None]).sum(axis=0)
    return FeatureSums(
        n_rows=float(per_row @ filled),
        n_empty=int(np.count_nonzero(~filled)),
        count=per_row @ seen,
        total=total,
        minimum=np.where(seen, values, INF).min(axis=0, initial=INF),
        maximum=np.where(seen, values, -INF).max(axis=0, initial=-INF),
        whole=(values == np.floor(values)).all(axis=0),
        two_valued=np.array([len(set(column[~np.isnan(column)])) <= 2 for column in table.T], bool),
        n_lowest=per_row @ (seen & (table == np.where(seen, table, INF).min(axis=0, initial=INF))),
        n_highest=per_row
        @ (seen & (table == np.where(seen, table, -INF).max(axis=0, initial=-INF))),
    )


# Multiples of 1/4, so that sums are exact whatever their order.
entries = st.sampled_from([-INF, -7.0, -0.25, 0.0, 1.0, 2.5, INF, NAN, NAN])


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), st.integers(0, 20), st.integers(0, 19))
def test_one_sweep_gives_what_a_pass_for_each_sum_does(data, n, d):
    table = data.draw(arrays(float, (n, d), elements=entries))
    weights = data.draw(st.none() | arrays(float, n, elements=st.sampled_from([0.5, 1.0, 3.0])))
    ours, expected = FeatureSums.of_table(table, weights), naive(table, weights)
    for one, other in zip(astuple(ours), astuple(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def test_blocks_that_are_ready_have_the_sums_of_their_table():
    ready = Block.from_table(TABLE).recentred(np.zeros(4))
    for one, other in zip(astuple(ready.feature_sums()), astuple(naive(TABLE, None)), strict=True):
        np.testing.assert_array_equal(one, other)
