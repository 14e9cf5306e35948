"""Influence of bins, against the jackknife written out and the textbook's standard errors."""

import numpy as np
import pytest

from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.moments.resampling import STEP, BinSums, Influence

N_ROWS, D = 150, 3


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, 1.0, (N_ROWS, D)) + np.array([0, 5, -2])
    X[:, 1] += X[:, 0]
    return np.where(rng.random(X.shape) < [0.0, 0.3, 0.5], np.nan, X)


def sums_of(X, bins):
    return BinSums.pairs(np.zeros(D), bins)(Block.from_table(X))


def mean(sums):
    return sums.features.total / sums.features.count


def scatter(sums):
    """The covariance over all N_ij rows, about the mean of those of each feature."""
    a = mean(sums)
    return (sums.pairs.total / sums.pairs.count) - np.outer(a, a)


every_bin = pytest.mark.parametrize(
    "labels",
    [np.arange(N_ROWS), np.random.default_rng(5).integers(12, size=N_ROWS)],
    ids=["rows", "groups"],
)


@every_bin
def test_the_influence_on_a_mean_is_the_sum_of_a_bins_deviations(labels):
    X = table()
    bins = Bins(labels.max() + 1, labels)
    found = Influence.on(mean, sums_of(X, bins))
    centre, count = np.nanmean(X, axis=0), (~np.isnan(X)).sum(axis=0)
    np.testing.assert_allclose(found.value, centre, rtol=1e-12)
    for label in range(bins.n):
        expected = np.nansum(X[labels == label] - centre, axis=0) / count
        np.testing.assert_allclose(found.of_bins[label], expected, rtol=20 * STEP, atol=1e-8)


@every_bin
def test_the_influence_on_a_covariance_is_its_derivative_written_out(labels):
    X = table()
    bins = Bins(labels.max() + 1, labels)
    found = Influence.on(scatter, sums_of(X, bins))
    centre, count = np.nanmean(X, axis=0), (~np.isnan(X)).sum(axis=0)
    for i in range(D):
        for j in range(D):
            both = ~np.isnan(X[:, i] * X[:, j])
            product = np.mean(X[both, i] * X[both, j])
            for label in range(bins.n):
                here = labels == label
                own = np.sum(X[here & both, i] * X[here & both, j] - product) / both.sum()
                of_i = np.nansum(X[here, i] - centre[i]) / count[i]
                of_j = np.nansum(X[here, j] - centre[j]) / count[j]
                expected = own - of_i * centre[j] - centre[i] * of_j
                np.testing.assert_allclose(
                    found.of_bins[label, i, j], expected, rtol=20 * STEP, atol=2e-5
                )


def test_the_jackknife_is_the_influence_to_first_order():
    X, labels = table(), np.arange(N_ROWS)
    sums = sums_of(X, Bins(N_ROWS, labels))
    found = Influence.on(scatter, sums)
    left_out = np.array([scatter(sums.reweighted(1 - one)) for one in np.eye(N_ROWS)])
    np.testing.assert_allclose(
        found.error, np.sqrt(np.sum((left_out - found.value) ** 2, axis=0)), rtol=0.05
    )


def test_the_error_of_a_mean_is_the_textbooks():
    X = table()
    found = Influence.on(mean, sums_of(X, Bins(N_ROWS, np.arange(N_ROWS))))
    expected = np.nanstd(X, axis=0) / np.sqrt((~np.isnan(X)).sum(axis=0))
    np.testing.assert_allclose(found.error, expected, rtol=5 * STEP)


def test_rows_repeated_as_a_group_have_the_error_of_one():
    X = table()
    once = Influence.on(mean, sums_of(X, Bins(N_ROWS, np.arange(N_ROWS))))
    thrice = np.repeat(X, 3, axis=0)
    grouped = Influence.on(mean, sums_of(thrice, Bins(N_ROWS, np.repeat(np.arange(N_ROWS), 3))))
    apart = Influence.on(mean, sums_of(thrice, Bins(3 * N_ROWS, np.arange(3 * N_ROWS))))
    np.testing.assert_allclose(grouped.error, once.error, rtol=5 * STEP)
    np.testing.assert_allclose(apart.error, once.error / np.sqrt(3), rtol=5 * STEP)


def test_drawn_errors_have_mean_zero_and_the_standard_error():
    found = Influence.on(scatter, sums_of(table(), Bins(N_ROWS, np.arange(N_ROWS))))
    draws = found.errors(np.random.default_rng(0).standard_normal((20_000, N_ROWS)))
    assert draws.shape == (20_000, D, D)
    z = draws.mean(axis=0) / (found.error / np.sqrt(20_000))
    assert np.abs(z).max() < 4
    np.testing.assert_allclose(draws.std(axis=0), found.error, rtol=4 / np.sqrt(2 * 20_000))


def test_drawn_errors_are_the_products_of_multipliers_and_influences():
    found = Influence(np.zeros((2, 2)), np.arange(12.0).reshape(3, 2, 2))
    multipliers = np.array([[1.0, -1.0, 2.0], [0.0, 0.0, 0.0]])
    expected = found.of_bins[0] - found.of_bins[1] + 2 * found.of_bins[2]
    np.testing.assert_array_equal(found.errors(multipliers), [expected, np.zeros((2, 2))])
