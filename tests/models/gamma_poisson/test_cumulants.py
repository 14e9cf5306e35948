"""The cumulants of gamma-Poisson counts from their exact probabilities.

Probabilities come from the generating function ``Π_k (1 + (1/b) Σ_d a_kd (1 - s_d))^(-c_k)`` at
the roots of unity, by a Fourier transform; probabilities beyond the grid fold back into it.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import convolve
from scipy.special import gammaln

from halfseen.models.gamma_poisson.parameters import GammaPoissonCumulants

TOPICS = np.array([[0.6, 0.3, 0.1], [0.15, 0.25, 0.6]])
SHAPES = np.array([1.4, 0.6])
RATE = 2.0
SIZE = 32


def generating_function(s, topics, shapes, rate):
    """At the points ``s`` (d, ...)."""
    gaps = np.tensordot(topics, 1 - s, axes=1) / rate
    return np.prod((1 + gaps) ** -shapes.reshape(-1, 1, 1, 1), axis=0)


def probabilities(topics, shapes, rate, size=SIZE):
    roots = np.exp(-2j * np.pi * np.arange(size) / size)
    grid = np.stack(np.meshgrid(roots, roots, roots, indexing="ij"))
    return np.fft.ifftn(generating_function(grid, topics, shapes, rate)).real


def counts(size):
    return np.stack(np.meshgrid(*[np.arange(size)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def negative_multinomial(topic, shape, rate, size):
    x = counts(size)
    total, length = x.sum(axis=1), topic.sum()
    log = gammaln(shape + total) - gammaln(shape) - gammaln(x + 1).sum(axis=1)
    log += shape * np.log(rate / (rate + length)) + x @ np.log(topic / (rate + length))
    return np.exp(log).reshape(size, size, size)


@pytest.fixture(scope="module")
def exact(sample_moments):
    """Moments about the mean, and the third; all from the probabilities."""
    pmf = probabilities(TOPICS, SHAPES, RATE)
    return sample_moments(counts(SIZE).astype(float), True, pmf.ravel())


def test_probabilities_of_one_topic_are_negative_multinomial():
    pmf = probabilities(TOPICS[:1], SHAPES[:1], RATE)
    expected = negative_multinomial(TOPICS[0], SHAPES[0], RATE, SIZE)
    np.testing.assert_allclose(pmf, expected, rtol=0, atol=1e-14)


def test_probabilities_of_two_topics_are_those_of_a_sum_of_one_each():
    pmf = probabilities(TOPICS, SHAPES, RATE)[:10, :10, :10]
    one, other = (negative_multinomial(TOPICS[k], SHAPES[k], RATE, 10) for k in (0, 1))
    expected = convolve(one, other, method="direct")[:10, :10, :10]
    np.testing.assert_allclose(pmf, expected, rtol=0, atol=1e-14)


def test_the_grid_holds_all_but_a_vanishing_tail():
    pmf = probabilities(TOPICS, SHAPES, RATE)
    assert pmf.sum() == pytest.approx(1.0, abs=1e-13)
    assert pmf.min() > -1e-15
    assert max(np.abs(pmf.take(-1, axis)).sum() for axis in range(3)) < 1e-13


def test_the_mean_is_that_of_the_loadings_through_the_topics(exact):
    np.testing.assert_allclose(exact[0].mean, SHAPES / RATE @ TOPICS, rtol=1e-12)


def test_covariances_without_poisson_variances_are_squares_of_topics(exact):
    moments, _ = exact
    expected = np.einsum("k,ki,kj->ij", SHAPES / RATE**2, TOPICS, TOPICS)
    signal = GammaPoissonCumulants().signal(moments, np.ones(3, bool), 2)
    np.testing.assert_allclose(signal.matrix, expected, rtol=0, atol=1e-12)


def test_third_cumulants_without_poisson_terms_are_cubes_of_topics(exact):
    moments, third = exact
    cov, corrected = moments.second, third.copy()
    for i in range(3):
        for j in range(3):
            for k in range(3):
                corrected[i, j, k] -= (i == j) * cov[i, k] + (i == k) * cov[i, j]
                corrected[i, j, k] -= (j == k) * cov[i, j]
                corrected[i, j, k] += 2 * (i == j == k) * moments.mean[i]
    expected = np.einsum("t,ti,tj,tk->ijk", 2 * SHAPES / RATE**3, TOPICS, TOPICS, TOPICS)
    np.testing.assert_allclose(corrected, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("weights", [np.ones(3), np.array([0.2, 1.7, 3.0])], ids=["equal", "any"])
def test_exact_probabilities_give_the_exact_model(exact, solve, assert_topics, weights):
    solution = solve(GammaPoissonCumulants(), *exact, 2, weights)
    found = solution.parameters
    assert_topics(found, TOPICS, SHAPES / RATE, SHAPES / RATE**2, 1e-9)
    np.testing.assert_allclose(np.sort(found.shapes), np.sort(SHAPES), rtol=1e-9)
    assert found.rate == pytest.approx(RATE, rel=1e-9)
    values = np.sort(solution.decomposition.values)
    np.testing.assert_allclose(values, np.sort(2 / np.sqrt(SHAPES)), rtol=1e-9)


@pytest.mark.parametrize("rounding", [0.0, 1e-20, -1e-20])
def test_what_rounding_leaves_of_a_share_is_none_and_made_even(rounding):
    """Of a feature that is counted, though it has no share in the second moments."""
    mean = np.array([2.0, 1.0, 1.0])
    back = np.array([[1.0, 0.5], [0.5, 1.0], [rounding, rounding]])
    evidence = SimpleNamespace(
        whitening=SimpleNamespace(back=back),
        moments=SimpleNamespace(mean=mean, gaps=SimpleNamespace(own=np.full(3, 50.0))),
        n_components=2,
    )
    decomposition = SimpleNamespace(vectors=np.eye(2))
    read = GammaPoissonCumulants().parameters(evidence, decomposition)
    np.testing.assert_allclose(read.topics[:, 2], 0.2)
