"""Parameters seen through some features, or in other units."""

import numpy as np
import pytest

from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.parameters import forms, n_free, select
from halfseen.latent.loadings import TopicParameters
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters

FEATURES = np.array([True, False, True])


@pytest.fixture
def topics():
    generator = np.random.default_rng(0)
    return TopicParameters(generator.random((2, 3)), np.array([3.0, 5.0]), np.array([0.5, 2.0]))


def test_a_mixture_seen_through_some_features_keeps_its_weights():
    means, variances = np.arange(6.0).reshape(2, 3), np.arange(1.0, 7.0).reshape(2, 3)
    part = select(MixtureParameters(np.array([0.3, 0.7]), means, variances), FEATURES)
    np.testing.assert_array_equal(part.weights, [0.3, 0.7])
    np.testing.assert_array_equal(part.means, [[0, 2], [3, 5]])
    np.testing.assert_array_equal(part.variances, [[1, 3], [4, 6]])


def test_files_hold_what_files_of_the_first_version_held_and_what_came_since():
    assert forms(MixtureParameters) == {
        "weights_": ("float64[k]",),
        "means_": ("float64[k,d]",),
        "covariances_": ("float", "float64[k]", "float64[d]", "float64[k,d]"),
        "centres_": ("float64[k,d]",),
        "spike_shares_": ("float64[k,d]",),
        "outlier_share_": ("float",),
        "typical_values_": ("float64[d]",),
        "typical_spreads_": ("float64[d]",),
        "spike_values_": ("float64[d]",),
        "second_values_": ("float64[d]",),
    }
    assert forms(GammaPoissonParameters) == {
        "components_": ("float64[k,d]",),
        "shapes_": ("float64[k]",),
        "rate_": ("float",),
    }


@pytest.mark.parametrize(
    ("kind", "n_variances"),
    [("tied_spherical", 1), ("spherical", 3), ("tied_diag", 5), ("diag", 15)],
)
def test_a_mixture_learns_shares_but_one_means_and_variances_that_differ(kind, n_variances):
    axes = {"variances": SHAPES[kind].axes}
    mixture = MixtureParameters(np.full(3, 1 / 3), np.zeros((3, 5)), np.ones((3, 5)))
    assert n_free(mixture, axes) == 2 + 15 + n_variances


def test_topics_seen_through_some_features_keep_their_loadings(topics):
    part = topics.select(FEATURES)
    np.testing.assert_array_equal(part.topics, topics.topics[:, FEATURES])
    np.testing.assert_array_equal(part.means, topics.means)
    np.testing.assert_array_equal(part.variances, topics.variances)


def test_normalised_topics_sum_to_one(topics):
    np.testing.assert_allclose(topics.normalised().topics.sum(axis=1), 1, rtol=1e-14)


def test_normalising_leaves_the_law_of_the_rates_alone(topics):
    """The mean and the covariance of Σ_k α_k a_k stay the same."""
    scaled = topics.normalised()
    for moment in ("mean", "covariance"):
        ours, before = (
            p.means @ p.topics if moment == "mean" else p.topics.T @ np.diag(p.variances) @ p.topics
            for p in (scaled, topics)
        )
        np.testing.assert_allclose(ours, before, rtol=1e-13)


def test_normalising_leaves_the_shapes_alone(topics):
    np.testing.assert_allclose(topics.normalised().shapes, topics.shapes, rtol=1e-13)


def test_shapes_and_rate_are_those_of_the_gamma_law():
    shapes, rate = np.array([0.5, 3.0]), 4.0
    parameters = TopicParameters(np.eye(2), shapes / rate, shapes / rate**2)
    np.testing.assert_allclose(parameters.shapes, shapes, rtol=1e-14)
    assert parameters.rate == pytest.approx(rate, rel=1e-14)
