"""Dispersions given the topics: exact from exact moments, and within their errors from tables."""

import numpy as np
import pytest

from halfseen.data.engines.memory import MemoryRows
from halfseen.data.resampling import Bins
from halfseen.latent.topic_concerns import communalities, max_identified_rank, overdispersion
from halfseen.moments.resampling import BinSums

D, K = 12, 3


def table(seed, dispersion, n=4000):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(D, 0.5), K)
    rates = rng.gamma(1.0, 30.0, (n, K)) @ topics
    burst = dispersion > 0
    factor = np.ones((n, D))
    factor[:, burst] = rng.gamma(1 / dispersion[burst], dispersion[burst], (n, burst.sum()))
    X = rng.poisson(rates * factor).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    return X


def found_in(X, k=K):
    rows = MemoryRows(X, tuple(map(str, range(X.shape[1]))))
    return overdispersion(
        rows.accumulate(BinSums.pairs(np.nanmean(X, axis=0), Bins.of_rows(len(X)))), k
    )


def test_the_diagonal_follows_from_what_is_off_it():
    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(9, 2))
    signal, own = loadings @ loadings.T, rng.uniform(0.5, 3.0, 9)
    share = communalities(signal + np.diag(own), 2, None)
    np.testing.assert_allclose(share, signal.diagonal() / (signal.diagonal() + own), atol=2e-3)


def test_a_rank_is_told_by_others_while_there_are_more_equations_than_unknowns():
    for d in range(1, 40):
        r = max_identified_rank(d)
        assert r < 1 or (d - r) ** 2 > d + r
        assert (d - r - 1) ** 2 <= d + r + 1


@pytest.mark.parametrize("seed", range(20))
def test_poisson_counts_do_not_come_in_bursts(seed):
    assert not found_in(table(seed, np.zeros(D))).clear.any()


@pytest.mark.parametrize("seed", range(4))
def test_dispersions_are_found_within_their_errors(seed):
    true = np.where(np.arange(D) % 3 == 0, 0.8, 0.0)
    found = found_in(table(seed, true, 20_000))
    assert np.all(np.abs(found.dispersion - true) < 5 * found.error + 0.02)
    assert not found.clear[true == 0].any()
    assert found.clear[true > 0].sum() >= 3


def test_too_few_features_tell_nothing():
    assert found_in(table(0, np.zeros(D))[:, :4]) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_topic_too_few_is_not_taken_for_bursts(seed):
    assert not found_in(table(seed, np.zeros(D)), K - 1).clear.any()


@pytest.mark.parametrize("seed", range(20))
def test_where_variances_are_but_rounding_nothing_is_told_and_nothing_fails(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(3.0, (15, 6)).astype(float)
    X[:, 4] = 1.0
    X[rng.random(X.shape) < 0.2] = np.nan
    rows, origin = MemoryRows(X, tuple("abcdef")), np.array([3.0, 3, 3, 3, 76923077.9, 3])
    found = overdispersion(rows.accumulate(BinSums.pairs(origin, Bins.of_rows(15))), 1)
    assert not found.clear[4]
