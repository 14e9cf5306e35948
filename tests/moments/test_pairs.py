"""Features of which every pair is observed together."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.moments.second_moment import AllPairs, met


def joint(seen, weights=1.0):
    return (seen * np.reshape(weights, (-1, 1))).T @ seen.astype(float)


@given(seed=st.integers(0, 2**16), d=st.integers(1, 7), share=st.sampled_from([0.2, 0.4, 0.9]))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_all_that_are_left_meet_and_none_could_be_added(seed, d, share):
    count = joint(np.random.default_rng(seed).random((6, d)) < share)
    left = met(count)
    assert (count[np.ix_(left, left)] > 0).all()
    for feature in np.flatnonzero(~left & (np.diag(count) > 0)):
        others = np.flatnonzero(left)
        assert (count[feature, others] == 0).any()


def test_all_stay_if_all_meet():
    assert met(np.ones((4, 4))).all()
    assert met(np.empty((0, 0))).shape == (0,)


def test_the_one_that_fewest_meet_goes():
    seen = np.ones((10, 4), dtype=bool)
    seen[:5, 0] = seen[5:, 1] = seen[5:, 2] = False
    np.testing.assert_array_equal(met(joint(seen)), [False, True, True, True])


def test_of_two_that_meet_all_others_the_one_observed_less_goes():
    seen = np.ones((10, 3), dtype=bool)
    seen[:6, 0] = seen[6:, 1] = False
    np.testing.assert_array_equal(met(joint(seen)), [False, True, True])


def test_what_is_never_observed_is_not_left():
    seen = np.ones((5, 3), dtype=bool)
    seen[:, 1] = False
    np.testing.assert_array_equal(met(joint(seen)), [True, False, True])


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 9.0)])
def test_a_table_is_looked_through_as_its_joint_counts_say(weights):
    rng = np.random.default_rng(0)
    for share in (0.3, 0.6, 0.95):
        X = np.where(rng.random((8, 5)) < share, 1.0, np.nan)
        rows = MemoryRows(X, tuple("abcde"), weights)
        sums = rows.accumulate(FeatureSums.of)
        expected = met(joint(~np.isnan(X), 1.0 if weights is None else weights))
        np.testing.assert_array_equal(AllPairs().meeting(rows, sums), expected)
        pairs = combinations(np.flatnonzero(expected), 2)
        assert all((X[:, pair] == 1).all(axis=1).any() for pair in pairs)
