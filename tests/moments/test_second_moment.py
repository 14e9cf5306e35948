"""Second moments: unbiased for every pattern of gaps, by enumerating all tables there could be."""

from itertools import product

import numpy as np
import pytest

from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block
from halfseen.moments.second_moment import Moments, PairSums

# A law on three features with dependence and skewness: each row of ATOMS with its probability.
ATOMS = np.array([[0.0, 1.0, 2.0], [1.0, -3.0, 0.5], [4.0, 2.0, -1.0], [-1.0, 0.0, 5.0]])
CHANCES = np.array([0.4, 0.3, 0.2, 0.1])
MEAN = CHANCES @ ATOMS

PATTERNS = {
    "no gaps, two rows": ["111", "111"],
    "no gaps": ["111", "111", "111"],
    "one feature has gaps": ["111", "101", "111", "111"],
    "each feature has its own gap": ["111", "011", "101", "110"],
    "gaps go together": ["111", "111", "001", "001"],
    "a pair is held by one row": ["111", "100", "011", "101"],
    "some rows are empty": ["111", "000", "111", "010"],
    "no row holds all three": ["110", "101", "011", "110"],
}


def moments_of(table: np.ndarray, centred: bool, weights: np.ndarray | None = None) -> Moments:
    block = Block.from_table(table, weights)
    features = FeatureSums.of(block)
    origin = features.mean if centred else np.zeros_like(features.mean)
    pairs = PairSums.about(origin)(block)
    return Moments.of_pairs(features, features.mean, pairs, centred)


def expected(pattern: list[str], centred: bool) -> np.ndarray:
    """The mean of the estimate over every table of as many rows, with the gaps where they are."""
    gaps = np.array([[mark == "0" for mark in row] for row in pattern])
    total = np.zeros((3, 3))
    for choice in product(range(len(ATOMS)), repeat=len(pattern)):
        table = np.where(gaps, np.nan, ATOMS[list(choice)])
        total += CHANCES[list(choice)].prod() * moments_of(table, centred).second
    return total


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_central_moments_are_unbiased_for_every_pattern_of_gaps(pattern):
    truth = np.einsum("n,ni,nj->ij", CHANCES, ATOMS - MEAN, ATOMS - MEAN)
    np.testing.assert_allclose(expected(pattern, centred=True), truth, atol=1e-12)


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_raw_moments_are_unbiased_for_every_pattern_of_gaps(pattern):
    truth = np.einsum("n,ni,nj->ij", CHANCES, ATOMS, ATOMS)
    np.testing.assert_allclose(expected(pattern, centred=False), truth, atol=1e-12)


@pytest.mark.parametrize("n_rows", [2, 3, 50])
def test_without_gaps_central_moments_are_the_textbook_covariance(n_rows):
    table = np.random.default_rng(n_rows).normal(3.0, 2.0, size=(n_rows, 4))
    moments = moments_of(table, centred=True)
    np.testing.assert_allclose(moments.second, np.cov(table.T), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(moments.mean, table.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("centred", [True, False])
def test_moments_of_weighted_rows_are_moments_of_repeated_rows(centred):
    generator = np.random.default_rng(0)
    table, times = generator.normal(size=(12, 3)), generator.integers(0, 4, 12)
    table[::4, 1] = np.nan
    weighted = moments_of(table, centred, times.astype(float))
    repeated = moments_of(np.repeat(table, times, axis=0), centred)
    np.testing.assert_allclose(weighted.second, repeated.second, rtol=1e-12)
    np.testing.assert_array_equal(weighted.observed_fraction, repeated.observed_fraction)


def test_central_moments_do_not_change_when_the_table_is_shifted():
    generator = np.random.default_rng(1)
    table = generator.normal(size=(30, 3))
    table[generator.random(table.shape) < 0.3] = np.nan
    shifted = moments_of(table + np.array([1.0, -20.0, 300.0]), centred=True)
    np.testing.assert_allclose(shifted.second, moments_of(table, True).second, rtol=1e-10)


def test_the_origin_is_the_mean_or_zero():
    central, raw = moments_of(ATOMS, centred=True), moments_of(ATOMS, centred=False)
    assert central.centred
    assert not raw.centred
    np.testing.assert_array_equal(central.origin, ATOMS.mean(axis=0))
    np.testing.assert_array_equal(raw.origin, np.zeros(3))
    np.testing.assert_array_equal(central.offset, np.zeros(3))
    np.testing.assert_array_equal(raw.offset, ATOMS.mean(axis=0))


def test_the_covariance_is_about_the_mean_whatever_the_origin():
    central, raw = moments_of(ATOMS, centred=True), moments_of(ATOMS, centred=False)
    np.testing.assert_array_equal(central.covariance, central.second)
    np.testing.assert_allclose(raw.covariance, np.cov(ATOMS.T, bias=True), rtol=1e-12)


def test_the_observed_fraction_leaves_out_empty_rows():
    table = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, np.nan], [5.0, 1.0], [np.nan, 4.0]])
    moments = moments_of(table, centred=True)
    np.testing.assert_allclose(moments.observed_fraction, [3 / 4, 3 / 4], rtol=1e-15)
    np.testing.assert_array_equal(moments.gaps.count, [[3, 2], [2, 3]])
