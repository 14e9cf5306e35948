"""Patterns of gaps leave complete features alone and do what they say to the others."""

import numpy as np
import pytest

from benchmarks.reproduce.gaps import Independent, LeftOut, PartialRows, Together, Uniform
from benchmarks.reproduce.measures import without_lone_features

INCOMPLETE = np.array([1, 3])
X = np.arange(8000.0).reshape(2000, 4)


def seen(gaps):
    gappy = gaps.put(X, INCOMPLETE, np.random.default_rng(0))
    mask = ~np.isnan(gappy)
    np.testing.assert_array_equal(gappy[mask], X[mask])
    assert mask[:, [0, 2]].all()
    return mask[:, INCOMPLETE]


def test_independent_features_are_seen_as_often_as_asked():
    np.testing.assert_allclose(seen(Independent((0.2, 0.7))).mean(axis=0), [0.2, 0.7], atol=0.04)


def test_uniform_probabilities_are_within_their_range():
    fractions = seen(Uniform(0.3, 0.6)).mean(axis=0)
    assert ((fractions > 0.25) & (fractions < 0.65)).all()
    assert fractions[0] != fractions[1]


def test_features_missing_together_are_seen_together():
    mask = seen(Together(0.4))
    np.testing.assert_array_equal(mask[:, 0], mask[:, 1])
    assert abs(mask[:, 0].mean() - 0.4) < 0.04


def test_the_first_rows_are_whole_and_the_others_partial():
    mask = seen(PartialRows(500))
    assert mask[:500].all()
    assert not mask[500:].any()


@pytest.mark.parametrize("used", [0, 1, 2])
def test_features_left_out_are_never_seen(used):
    np.testing.assert_array_equal(seen(LeftOut(used)).mean(axis=0), np.arange(2) < used)


def test_features_that_another_never_meets_are_left_out_and_no_others():
    gappy = np.ones((6, 4))
    gappy[:3, 1] = np.nan  # meets 2 in no row, 3 in one
    gappy[3:, 2] = np.nan
    gappy[:5, 3] = np.nan  # meets 2 in no row either
    kept = ~np.isnan(without_lone_features(gappy)).all(axis=0)
    np.testing.assert_array_equal(kept, [True, True, False, True])


def test_a_table_whose_features_all_meet_is_left_as_it_is():
    gappy = Independent((0.5, 0.5)).put(X, INCOMPLETE, np.random.default_rng(1))
    np.testing.assert_array_equal(without_lone_features(gappy), gappy)
