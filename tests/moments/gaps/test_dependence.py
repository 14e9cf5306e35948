"""The test of whether gaps are independent of each other."""

import numpy as np
import pytest

from halfseen.moments.joint_counts import pairs_in_masks
from halfseen.moments.missing_patterns import INDEPENDENT_BELOW, dependence_of_gaps


def independent_mask(seed: int, n_rows: int, fractions: list[float]) -> np.ndarray:
    return np.random.default_rng(seed).random((n_rows, len(fractions))) < fractions


def naive(mask: np.ndarray) -> float:
    n_rows, d = mask.shape
    p, worst = mask.mean(axis=0), 0.0
    for i in range(d):
        for j in range(i):
            if p[i] < 1 and p[j] < 1:
                together = sum(bool(row[i] and row[j]) for row in mask)
                excess = abs(together * n_rows / (mask[:, i].sum() * mask[:, j].sum()) - 1)
                spread = ((1 - p[i]) * (1 - p[j]) / (n_rows * p[i] * p[j])) ** 0.5
                worst = max(worst, excess / spread)
    return worst


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_largest_standardised_excess_over_pairs(seed):
    mask = independent_mask(seed, 80, [0.3, 1.0, 0.6, 0.9, 0.5])
    assert dependence_of_gaps(pairs_in_masks(mask), 80) == pytest.approx(naive(mask), rel=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_independent_gaps_stay_below_the_threshold(seed):
    mask = independent_mask(seed, 5000, [0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0])
    assert 0 < dependence_of_gaps(pairs_in_masks(mask), 5000) < INDEPENDENT_BELOW


@pytest.mark.parametrize("fraction", [0.05, 0.5, 0.95])
def test_gaps_in_the_same_rows_are_far_above_the_threshold(fraction):
    mask = np.repeat(independent_mask(0, 1000, [fraction]), 2, axis=1)
    # Identical masks have an excess of (1 - p) / p, which is √N spreads.
    assert dependence_of_gaps(pairs_in_masks(mask), 1000) == pytest.approx(1000**0.5, rel=1e-10)


def test_gaps_that_exclude_each_other_are_dependent_too():
    first = independent_mask(0, 1000, [0.5])
    mask = np.hstack([first, ~first])
    assert dependence_of_gaps(pairs_in_masks(mask), 1000) > INDEPENDENT_BELOW


@pytest.mark.parametrize("fractions", [[], [1.0, 1.0], [0.5, 1.0, 1.0], [0.5]])
def test_fewer_than_two_features_with_gaps_cannot_depend(fractions):
    mask = independent_mask(0, 100, fractions)
    assert dependence_of_gaps(pairs_in_masks(mask), 100) == 0
