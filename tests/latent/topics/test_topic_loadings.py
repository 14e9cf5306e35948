"""Loadings of topics given observed counts, against formulas written out row by row."""

import numpy as np
import pytest
from scipy.special import digamma

from halfseen import simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.latent import loadings as posterior
from halfseen.latent.loadings import TopicParameters, best_linear_loadings, factorised_posterior
from halfseen.latent.topic_regression import TopicRegression
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.moments.regression import recovered

TOPICS = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])
SHAPES, RATE = np.array([0.8, 1.5]), 0.1
PARAMETERS = TopicParameters(TOPICS, SHAPES / RATE, SHAPES / RATE**2)


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    X, _ = simulate.gamma_poisson(40, TOPICS, SHAPES, RATE, rng)
    return simulate.independent_gaps(X, [1.0, 0.8, 0.6, 0.6], rng)


def test_best_linear_loadings_are_those_of_the_joint_covariance(counts):
    found = best_linear_loadings(Block.from_table(counts), PARAMETERS)
    mean = PARAMETERS.means @ TOPICS
    for row, loading in zip(counts, found, strict=True):
        seen = ~np.isnan(row)
        topics = TOPICS[:, seen]
        covariance = topics.T @ np.diag(PARAMETERS.variances) @ topics + np.diag(mean[seen])
        cross = np.diag(PARAMETERS.variances) @ topics
        expected = PARAMETERS.means + cross @ np.linalg.solve(covariance, row[seen] - mean[seen])
        np.testing.assert_allclose(loading, expected, rtol=1e-10)


def test_the_posterior_of_one_topic_is_exact(counts):
    block = Block.from_table(counts)
    one = GammaPoissonParameters(TOPICS[:1], SHAPES[:1], RATE)
    found = factorised_posterior(block, one).mean[:, 0]
    seen = ~np.isnan(counts)
    expected = (SHAPES[0] + np.nansum(counts, axis=1)) / (RATE + seen @ TOPICS[0])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_posterior_means_are_the_fixed_point_of_the_factorised_updates(counts):
    model = GammaPoissonParameters(TOPICS, SHAPES, RATE)
    found = factorised_posterior(Block.from_table(counts), model).mean
    for row, loading in zip(counts, found, strict=True):
        seen = ~np.isnan(row)
        rates = RATE + TOPICS[:, seen].sum(axis=1)
        shape = loading * rates
        shares = TOPICS[:, seen] * np.exp(digamma(shape) - np.log(rates))[:, None]
        updated = SHAPES + (row[seen] * shares / shares.sum(axis=0)).sum(axis=1)
        np.testing.assert_allclose(shape, updated, rtol=1e-6)


def test_our_digamma_is_scipys():
    x = np.geomspace(1e-3, 1e6, 200)
    np.testing.assert_allclose(
        [posterior.compiled_digamma(v) for v in x], digamma(x), rtol=1e-10, atol=1e-11
    )


def test_incomplete_features_come_from_the_same_regression_written_out():
    rng = np.random.default_rng(1)
    X, _ = simulate.gamma_poisson(500, TOPICS, SHAPES, RATE, rng)
    X = simulate.independent_gaps(X, [1, 1, 1, 0.5], rng)
    complete = np.array([True, True, True, False])
    rows, reference = MemoryRows(X, ("a", "b", "c", "d")), PARAMETERS.select(complete)
    found = recovered(rows, TopicRegression(np.zeros(4)), reference, complete)
    seen = ~np.isnan(X[:, 3])
    loadings = best_linear_loadings(Block.from_table(X[:, :3]), PARAMETERS.select(complete))[seen]
    expected, *_ = np.linalg.lstsq(loadings, X[seen, 3], rcond=None)
    assert (expected > 0).all()  # so that the constraint does not bind
    np.testing.assert_allclose(found.topics[:, 3], expected, rtol=1e-6)
    np.testing.assert_array_equal(found.topics[:, :3], TOPICS[:, :3])


def test_a_share_is_never_negative():
    rng = np.random.default_rng(2)
    topics = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    parameters = TopicParameters(topics, SHAPES / RATE, SHAPES / RATE**2)
    X, _ = simulate.gamma_poisson(200, topics, SHAPES, RATE, rng)
    X = simulate.independent_gaps(X, [1, 0.5, 1], rng)
    complete = np.array([True, False, True])
    rows, reference = MemoryRows(X, ("a", "b", "c")), parameters.select(complete)
    found = recovered(rows, TopicRegression(np.zeros(3)), reference, complete)
    assert (found.topics >= 0).all()
