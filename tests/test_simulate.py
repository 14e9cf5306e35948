"""Simulated tables have the moments and the gaps they are said to have."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from halfseen import simulate


def test_a_mixture_has_its_shares_means_and_variances():
    rng = np.random.default_rng(0)
    X, labels = simulate.gaussian_mixture(100_000, [0.2, 0.8], [[0, 5], [3, 1]], [1.0, 4.0], rng)
    assert (labels == 1).mean() == pytest.approx(0.8, abs=0.01)
    np.testing.assert_allclose(X[labels == 0].mean(axis=0), [0, 5], atol=0.03)
    np.testing.assert_allclose(X[labels == 1].var(axis=0), [4, 4], rtol=0.03)


def test_gamma_poisson_counts_have_the_means_and_variances_of_the_model():
    rng = np.random.default_rng(0)
    topics, shapes, rate = np.array([[0.7, 0.3], [0.2, 0.8]]), np.array([0.5, 2.0]), 0.1
    counts, loadings = simulate.gamma_poisson(400_000, topics, shapes, rate, rng)
    np.testing.assert_allclose(loadings.mean(axis=0), shapes / rate, rtol=0.01)
    mean = shapes / rate @ topics
    covariance = topics.T @ np.diag(shapes / rate**2) @ topics + np.diag(mean)
    np.testing.assert_allclose(counts.mean(axis=0), mean, rtol=0.01)
    np.testing.assert_allclose(np.cov(counts.T), covariance, rtol=0.03)


def test_independent_gaps_have_their_fractions_and_no_correlation():
    X = np.zeros((100_000, 3))
    seen = ~np.isnan(simulate.independent_gaps(X, [1.0, 0.5, 0.2], np.random.default_rng(0)))
    np.testing.assert_allclose(seen.mean(axis=0), [1.0, 0.5, 0.2], atol=0.01)
    assert np.corrcoef(seen[:, 1], seen[:, 2])[0, 1] == pytest.approx(0, abs=0.01)


def test_a_block_is_observed_or_missing_as_one():
    X = np.zeros((50_000, 4))
    gappy = simulate.block_gaps(X, [0, 1, 1, 2], [1.0, 0.3, 0.6], np.random.default_rng(0))
    seen = ~np.isnan(gappy)
    np.testing.assert_array_equal(seen[:, 1], seen[:, 2])
    np.testing.assert_allclose(seen.mean(axis=0), [1.0, 0.3, 0.3, 0.6], atol=0.01)


def test_gaps_that_depend_on_another_feature():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 3))
    seen = ~np.isnan(simulate.value_gaps(X, [1, 2], 0.3, rng, driver=0, strength=2.0))
    np.testing.assert_allclose(seen.mean(axis=0), [1.0, 0.3, 0.3], atol=0.01)
    assert X[seen[:, 1], 0].mean() > 0.5
    assert spearmanr(seen[:, 1], X[:, 1]).statistic == pytest.approx(0, abs=0.02)


def test_gaps_that_depend_on_the_missing_value_itself():
    rng = np.random.default_rng(0)
    X = 10 * rng.standard_normal((50_000, 2))
    gappy = simulate.value_gaps(X, 1, 0.5, rng)
    assert np.nanmean(gappy[:, 1]) > 2
    assert np.isnan(gappy[:, 0]).sum() == 0


def test_the_same_seed_gives_the_same_table():
    draws = [
        simulate.gaussian_mixture(9, [1.0], [[0.0]], 1.0, np.random.default_rng(5))[0]
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*draws)
