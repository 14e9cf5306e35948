"""Scores of rows: calibrated on the model's own draws, high where something was changed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen.data.block import Block
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.rows import with_gaps
from halfseen.latent.counts import RARE_ROW, outlier_score, without_impossible_counts
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters

D, K, N = 15, 3, 3000


def model(seed, shape=1.0, length=100.0):
    topics = np.random.default_rng(seed).dirichlet(np.full(D, 0.3), K)
    return GammaPoissonParameters(topics, np.full(K, shape), K * shape / length)


def drawn(seed, truth, n=N):
    rng = np.random.default_rng(seed)
    loadings = rng.gamma(truth.shapes, 1 / truth.rate, (n, K))
    X = rng.poisson(loadings @ truth.topics).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X


@pytest.mark.parametrize(("shape", "length"), [(1.0, 100.0), (0.2, 100.0), (1.0, 10.0)])
def test_few_of_the_models_own_rows_score_high(shape, length):
    truth = model(0, shape, length)
    score = outlier_score(Block.from_table(drawn(1, truth)), truth)
    assert ((score >= 0) & (score <= 1)).all()
    chance = RARE_ROW / score - RARE_ROW
    for allowed in (0.1, 0.01, 0.001):
        noise = 4 * np.sqrt(allowed / N)
        assert np.mean(chance < allowed) <= allowed + noise


@pytest.mark.parametrize("seed", range(3))
def test_rows_with_a_wild_count_score_nearly_one_whatever_the_column(seed):
    truth = model(seed)
    X = drawn(seed + 10, truth, 300)
    X[np.arange(300), np.arange(300) % D] = 5000.0
    assert outlier_score(Block.from_table(X), truth).min() > 0.999


def test_long_rows_score_nearly_one():
    truth = model(0)
    X = drawn(2, truth, 300)
    X = np.where(np.nansum(X, axis=1)[:, None] > 30, 60 * X, X)
    score = outlier_score(Block.from_table(X), truth)
    assert score[np.nansum(X, axis=1) > 1800].min() > 0.999


def test_rows_in_which_nothing_is_observed_or_counted_are_usual():
    truth = model(0, shape=0.05)
    X = np.vstack([np.full(D, np.nan), np.zeros(D)])
    np.testing.assert_allclose(outlier_score(Block.from_table(X), truth), 0.0, atol=2 * RARE_ROW)


def test_sparse_rows_score_alike():
    truth = model(0, length=5.0)
    X = drawn(3, truth, 200)
    X[7, 2] = 300.0
    sparse = next(SparseRows.of(csr_array(X), tuple(map(str, range(D)))).blocks())
    ours, theirs = outlier_score(sparse, truth), outlier_score(Block.from_table(X), truth)
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_an_impossible_count_is_a_gap_and_others_stay():
    truth = model(1)
    X = drawn(4, truth, 200)
    X[5, 3], X[40, 8] = 5000.0, 9000.0
    expected = X.copy()
    expected[5, 3] = expected[40, 8] = np.nan
    np.testing.assert_array_equal(
        with_gaps(without_impossible_counts(Block.from_table(X), truth)), expected
    )


def test_no_rows_have_no_scores():
    assert outlier_score(Block.from_table(np.empty((0, D))), model(0)).shape == (0,)
