"""Simulated tables have the moments and the gaps they are said to have."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import spearmanr

from halfseen import simulate

TOPICS = np.array([[0.7, 0.3], [0.2, 0.8]])


def test_a_mixture_has_its_shares_means_and_variances():
    rng = np.random.default_rng(0)
    X, labels = simulate.gaussian_mixture(100_000, [0.2, 0.8], [[0, 5], [3, 1]], [1.0, 4.0], rng)
    assert (labels == 1).mean() == pytest.approx(0.8, abs=0.01)
    np.testing.assert_allclose(X[labels == 0].mean(axis=0), [0, 5], atol=0.03)
    np.testing.assert_allclose(X[labels == 1].var(axis=0), [4, 4], rtol=0.03)


def test_gamma_poisson_counts_have_the_means_and_variances_of_the_model():
    rng = np.random.default_rng(0)
    topics, shapes, rate = TOPICS, np.array([0.5, 2.0]), 0.1
    counts, loadings = simulate.gamma_poisson(400_000, topics, shapes, rate, rng)
    np.testing.assert_allclose(loadings.mean(axis=0), shapes / rate, rtol=0.01)
    mean = shapes / rate @ topics
    covariance = topics.T @ np.diag(shapes / rate**2) @ topics + np.diag(mean)
    np.testing.assert_allclose(counts.mean(axis=0), mean, rtol=0.01)
    np.testing.assert_allclose(np.cov(counts.T), covariance, rtol=0.03)


@pytest.mark.parametrize("topics", [TOPICS, [[0.0, 1.0, 0.0], [0.0, 0.25, 0.75]]])
def test_sparse_counts_have_the_law_of_dense_ones(topics):
    n, shapes, rate = 200_000, np.array([0.5, 2.0]), 0.25
    topics = np.asarray(topics)
    counts, loadings = simulate.sparse_gamma_poisson(
        n, topics, shapes, rate, np.random.default_rng(0)
    )
    dense, _ = simulate.gamma_poisson(n, topics, shapes, rate, np.random.default_rng(1))
    table = counts.toarray()
    error = np.sqrt(dense.var(axis=0) / n)
    np.testing.assert_allclose(loadings.mean(axis=0), shapes / rate, rtol=0.01)
    assert (np.abs(table.mean(axis=0) - shapes / rate @ topics) <= 4 * error).all()
    assert (np.abs(table.mean(axis=0) - dense.mean(axis=0)) <= 5.7 * error).all()
    np.testing.assert_allclose(np.cov(table.T), np.cov(dense.T), rtol=0.03, atol=1e-12)
    # Given the loadings counts are Poisson: as variable as their means.
    rates = loadings @ topics
    np.testing.assert_allclose(((table - rates) ** 2).sum(axis=0), rates.sum(axis=0), rtol=0.03)
    third = ((table - table.mean(axis=0)) ** 3).mean(axis=0)
    expected = ((dense - dense.mean(axis=0)) ** 3).mean(axis=0)
    np.testing.assert_allclose(third, expected, rtol=0.1)


def test_sparse_counts_are_whole_sorted_and_stored_once():
    counts, loadings = simulate.sparse_gamma_poisson(
        500, TOPICS, [1.0, 1.0], 0.5, np.random.default_rng(0)
    )
    assert counts.format == "csr"
    assert counts.shape == (500, 2)
    assert loadings.shape == (500, 2)
    assert counts.has_canonical_format
    assert (counts.data >= 1).all()
    np.testing.assert_array_equal(counts.data, np.floor(counts.data))
    again, _ = simulate.sparse_gamma_poisson(500, TOPICS, [1.0, 1.0], 0.5, np.random.default_rng(0))
    assert (counts != again).nnz == 0


def test_sparse_rows_without_loadings_have_no_counts():
    counts, _ = simulate.sparse_gamma_poisson(50, TOPICS, [1.0, 1.0], 1e9, np.random.default_rng(0))
    assert counts.nnz == 0
    none, _ = simulate.sparse_gamma_poisson(0, TOPICS, [1.0, 1.0], 1.0, np.random.default_rng(0))
    assert none.shape == (0, 2)


def test_blocks_that_rows_do_not_have_lose_their_counts_and_others_keep_them():
    rng = np.random.default_rng(0)
    table, blocks = rng.poisson(1.0, size=(40, 5)), [2, 0, 0, 1, 2]
    row_observed = rng.random((40, 3)) < 0.5
    before = csr_array(table)
    seen = simulate.without_blocks(before, blocks, row_observed)
    expected = [
        [x if row_observed[n, blocks[i]] else 0 for i, x in enumerate(row)]
        for n, row in enumerate(table)
    ]
    np.testing.assert_array_equal(seen.toarray(), expected)
    np.testing.assert_array_equal(before.toarray(), table)
    assert seen.format == "csr"
    assert (seen.data != 0).all()


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
