"""Cells are hidden as others are missing: together, and as often."""

import numpy as np
import pytest

from halfseen.data.missing_patterns import FEWEST_CELLS, imitated_gaps, measurable, missing_with


def random(seed=0):
    return np.random.default_rng(seed)


def patterns(n, shares, seed=0):
    """Known cells of rows whose gaps are one of several patterns, and which it is."""
    every = np.array([[c == "x" for c in one] for one in shares])
    which = random(seed).choice(len(every), n, p=list(shares.values()))
    return every[which], which


def test_columns_that_are_always_missing_together_are_hidden_together():
    known, _ = patterns(500, {"xxx": 0.6, "..x": 0.4})
    tests = imitated_gaps(known, 300, random())
    assert len(tests.row) == 300
    np.testing.assert_array_equal(tests.hidden, np.tile([True, True, False], (300, 1)))


def test_only_known_cells_are_hidden_and_the_rest_of_the_pattern_is_missing_already():
    known = random().random((300, 5)) < 0.7
    tests = imitated_gaps(known, 1000, random())
    assert (known[tests.row] | ~tests.hidden).all()
    assert tests.hidden.any(axis=1).all()


def test_weighted_patterns_of_a_column_are_as_frequent_as_in_rows_that_miss_it():
    shares = {"xxxx": 0.5, ".xxx": 0.3, "..xx": 0.15, "x..x": 0.03, "xxx.": 0.02}
    known, _ = patterns(20_000, shares)
    tests = imitated_gaps(known, 20_000, random())
    own = tests.hidden[:, 1]  # missing with the first column in 15 of 18 rows
    gaps = tests.hidden[own, 0] | ~known[tests.row[own], 0]
    beside = tests.weight[own] @ gaps / tests.weight[own].sum()
    missing = ~known[:, 1]
    assert beside == pytest.approx((~known[missing, 0]).mean(), abs=0.02)
    assert gaps.mean() != pytest.approx(beside, abs=0.02)  # why there are weights


def test_a_column_with_one_gap_is_tested_as_often_as_others():
    known = np.ones((400, 3), dtype=bool)
    known[:100, 0], known[7, 1] = False, False
    tests = imitated_gaps(known, 200, random())
    assert tests.hidden[:, 1].sum() >= 100
    assert not tests.hidden[:, 2].any()


def test_rows_that_have_few_other_gaps_imitate_a_pattern():
    known, _ = patterns(2000, {"xxxx": 0.3, "xx..": 0.6, ".xxx": 0.1})
    tests = imitated_gaps(known, 300, random())
    own = tests.hidden[:, 0]
    assert known[tests.row[own]].all(axis=1).mean() > 0.8  # 1 - (2 / 3)^5


def test_columns_without_gaps_or_with_few_known_cells_are_not_tested():
    known = np.ones((100, 3), dtype=bool)
    known[:50, 1] = False
    known[FEWEST_CELLS - 1 :, 2] = False
    np.testing.assert_array_equal(measurable(known), [False, True, False])
    nothing = imitated_gaps(np.ones((5, 2), dtype=bool), 10, random())
    assert nothing.hidden.shape == (0, 2)
    assert imitated_gaps(np.zeros((30, 2), dtype=bool), 10, random()).hidden.shape == (0, 2)


def test_cells_are_counted_once():
    known = np.ones((25, 2), dtype=bool)
    known[0, 0] = False
    tests = imitated_gaps(known, 500, random())
    np.testing.assert_array_equal(tests.n_cells, [24, 0])


def test_columns_that_are_mostly_missing_beside_another_come_in_order():
    known, _ = patterns(1000, {"xxxxx": 0.5, ".x..x": 0.3, ".xx.x": 0.15, "...xx": 0.05})
    known[:, 4] = False  # never known, as what was left out of a table
    np.testing.assert_array_equal(missing_with(known, 0), [3, 2])
