"""From exact cumulants to exact topics, and what holds for any moments at all."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.inference.tensor_decomposition import DECOMPOSERS, Decomposition
from halfseen.models.gamma_poisson.parameters import GammaPoissonCumulants
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.whitening import Whitening

MODEL = GammaPoissonCumulants()
SEED = st.integers(0, 2**16)
LAW = settings(max_examples=25, deadline=None, derandomize=True)


def draw_topics(seed, k, d):
    """Topics (k, d), each with a favourite feature so that no two are alike, shapes and rate."""
    rng = np.random.default_rng(seed)
    topics = 0.4 * rng.dirichlet(np.full(d, 0.7), k) + 0.6 * np.eye(k, d)
    return topics, rng.uniform(0.4, 3.0, k), rng.uniform(0.05, 2.0)


def draw_weights(seed, d):
    return np.random.default_rng(seed).uniform(0.1, 5.0, d)


def cumulants(topics, means, variances, thirds):
    """Mean, covariance and third cumulant of Poisson counts with such cumulants of the loadings.

    By the law of total cumulance: a Poisson count has all its cumulants equal to its rate.
    """
    mean = means @ topics
    signal = np.einsum("k,ki,kj->ij", variances, topics, topics)
    third = np.einsum("t,ti,tj,tk->ijk", thirds, topics, topics, topics)
    for i in range(len(mean)):
        third[i, i, :] += signal[i]
        third[i, :, i] += signal[i]
        third[:, i, i] += signal[i]
        third[i, i, i] += mean[i]
    return mean, signal + np.diag(mean), third


def gamma_cumulants(topics, shapes, rate):
    return cumulants(topics, shapes / rate, shapes / rate**2, 2 * shapes / rate**3)


def draw_counts(seed, k=3, d=7, n=4000):
    rng = np.random.default_rng(seed)
    topics, shapes, _ = draw_topics(1, k, d)
    return rng.poisson(rng.gamma(shapes, 20.0, (n, k)) @ topics).astype(float)


@pytest.mark.parametrize(("k", "d"), [(1, 1), (1, 4), (2, 2), (3, 5), (4, 8), (6, 9)])
@given(seed=SEED)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_exact_cumulants_with_any_feature_weights_give_the_exact_model(
    population, solve, assert_topics, k, d, seed
):
    topics, shapes, rate = draw_topics(seed, k, d)
    mean, covariance, third = gamma_cumulants(topics, shapes, rate)
    moments, weights = population(mean, covariance, True), draw_weights(seed, d)
    found = solve(MODEL, moments, third, k, weights).parameters
    assert_topics(found, topics, shapes / rate, shapes / rate**2, 1e-9)
    np.testing.assert_allclose(np.sort(found.shapes), np.sort(shapes), rtol=1e-9)
    assert found.rate == pytest.approx(rate, rel=1e-9)


@pytest.mark.parametrize("decomposer", DECOMPOSERS)
def test_every_decomposer_gives_the_exact_model(population, solve, assert_topics, decomposer):
    topics, shapes, rate = draw_topics(2, 4, 8)
    mean, covariance, third = gamma_cumulants(topics, shapes, rate)
    moments, decompose = population(mean, covariance, True), DECOMPOSERS[decomposer]
    found = solve(MODEL, moments, third, 4, decomposer=decompose).parameters
    assert_topics(found, topics, shapes / rate, shapes / rate**2)


def test_the_tensor_is_orthogonally_decomposable_with_values_two_over_root_shapes(
    population, solve
):
    topics, shapes, rate = draw_topics(3, 4, 8)
    mean, covariance, third = gamma_cumulants(topics, shapes, rate)
    solution = solve(MODEL, population(mean, covariance, True), third, 4, draw_weights(3, 8))
    v = np.sqrt(shapes / rate**2)[:, None] * topics @ solution.evidence.whitening.forward
    np.testing.assert_allclose(v @ v.T, np.eye(4), atol=1e-10)
    expected = np.einsum("k,ka,kb,kc->abc", 2 / np.sqrt(shapes), v, v, v)
    np.testing.assert_allclose(solution.tensor, expected, atol=1e-9)
    assert solution.decomposition.off_diagonal < 1e-12


@given(seed=SEED)
@LAW
def test_shapes_from_second_and_from_third_cumulants_agree_for_gamma_loadings(
    population, solve, seed
):
    topics, shapes, rate = draw_topics(seed, 3, 7)
    mean, covariance, third = gamma_cumulants(topics, shapes, rate)
    solution = solve(MODEL, population(mean, covariance, True), third, 3)
    from_third = 4 / solution.decomposition.values**2
    np.testing.assert_allclose(solution.parameters.shapes, from_third, rtol=1e-9)


def test_loadings_of_any_law_give_their_topics_means_and_variances(
    population, solve, assert_topics
):
    topics, means, _ = draw_topics(4, 3, 7)
    variances, thirds = np.array([0.7, 2.0, 1.1]), np.array([3.0, 0.5, 0.2])
    mean, covariance, third = cumulants(topics, means, variances, thirds)
    solution = solve(MODEL, population(mean, covariance, True), third, 3)
    assert_topics(solution.parameters, topics, means, variances)
    from_third = 4 / solution.decomposition.values**2
    assert np.abs(np.log(solution.parameters.shapes / from_third)).min() > 0.1


def test_signal_is_the_covariance_without_the_mean_on_its_diagonal(population):
    mean, covariance, _ = gamma_cumulants(*draw_topics(5, 2, 4))
    signal = MODEL.signal(population(mean, covariance, True), np.ones(4, bool), 2)
    np.testing.assert_allclose(signal.matrix, covariance - np.diag(mean), atol=1e-14)
    np.testing.assert_array_equal(signal.noise, mean)
    np.testing.assert_array_equal(signal.unit, np.ones(4))
    assert signal.null.shape == (4, 0)
    assert MODEL.centred
    assert MODEL.rank(2) == 2


def test_the_tensor_of_any_moments_is_the_projection_of_the_corrected_cumulant(
    sample_moments, solve
):
    moments, third = sample_moments(draw_counts(6), True)
    solution = solve(MODEL, moments, third, 3, draw_weights(6, 7))
    corrected, forward = third.copy(), solution.evidence.whitening.forward
    for i in range(7):
        corrected[i, i, :] -= moments.second[i]
        corrected[i, :, i] -= moments.second[i]
        corrected[:, i, i] -= moments.second[i]
        corrected[i, i, i] += 2 * moments.mean[i]
    expected = np.einsum("ijk,ia,jb,kc->abc", corrected, forward, forward, forward)
    np.testing.assert_allclose(solution.tensor, expected, atol=1e-10)


@given(seed=SEED)
@LAW
def test_permuting_the_features_permutes_the_topics(sample_moments, solve, assert_topics, seed):
    rows, w = draw_counts(seed), draw_weights(seed, 7)
    order = np.random.default_rng(seed).permutation(7)
    here = solve(MODEL, *sample_moments(rows, True), 3, w).parameters
    there = solve(MODEL, *sample_moments(rows[:, order], True), 3, w[order]).parameters
    assert_topics(there, here.topics[:, order], here.means, here.variances, 1e-9)


@given(seed=SEED)
@LAW
def test_topics_are_distributions_and_loadings_positive_whatever_the_moments(
    sample_moments, solve, seed
):
    rows = np.random.default_rng(seed).poisson(1.0, (30, 6)).astype(float)
    found = solve(MODEL, *sample_moments(rows, True), 3).parameters
    np.testing.assert_allclose(found.topics.sum(axis=1), 1.0, rtol=1e-12)
    assert found.topics.min() >= 0
    assert found.means.min() > 0
    assert found.variances.min() > 0


@pytest.fixture
def read(population, solve):
    """Read parameters off scaled topics (d, k), a mean (d,) and counts of rows (d,)."""

    def parameters(scaled, mean, rows):
        d, k = scaled.shape
        moments = replace(population(mean, np.eye(d), True), gaps=JointGaps(np.diag(rows), 1e12))
        evidence = solve(MODEL, moments, np.zeros((d, d, d)), k).evidence
        whitening = Whitening(scaled, scaled, weights=np.ones(d), spectrum=np.ones(d))
        identity = Decomposition(np.eye(k), np.ones(k), 0.0)
        return MODEL.parameters(replace(evidence, whitening=whitening), identity)

    return parameters


def test_topics_are_turned_up_clipped_at_zero_and_then_divided_by_their_sums(read):
    scaled = np.array([[4.0, 1.0], [-3.0, 0.5], [-1.0, 0.5], [-3.0, -0.1]])
    found = read(scaled, np.full(4, 0.5), np.full(4, 9.0))
    np.testing.assert_allclose(found.topics[0], [0, 3 / 7, 1 / 7, 3 / 7], atol=1e-15)
    np.testing.assert_allclose(found.topics[1], [0.5, 0.25, 0.25, 0], atol=1e-15)
    np.testing.assert_allclose(found.variances, [49.0, 4.0])


def test_means_are_least_squares_weighted_by_the_rows_behind_each_feature(read):
    rng = np.random.default_rng(7)
    topics, rows = rng.dirichlet(np.ones(6), 3), rng.uniform(10, 1000, 6)
    mean = np.array([2.0, 1.0, 3.0]) @ topics + 0.01 * rng.standard_normal(6)
    found = read(topics.T, mean, rows)
    normal = np.linalg.solve((topics * rows) @ topics.T, (topics * rows) @ mean)
    np.testing.assert_allclose(found.means, normal, rtol=1e-10)


def test_a_topic_that_the_means_can_do_without_keeps_a_trace_of_its_fair_share(read):
    topics = np.array([[0.8, 0.2, 0.0], [0.0, 0.3, 0.7]])
    found = read(topics.T, 5.0 * topics[0], np.full(3, 10.0))
    np.testing.assert_allclose(found.means, [5.0, 1e-6 * 5.0 / 2], rtol=1e-10)
