"""The free numbers of a mixture of normals: how many there are, and what a step moves."""

import numpy as np
import pytest

from halfseen.data.rows import Block
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters

K, D = 3, 4
N_VARIANCES = {"tied_spherical": 1, "spherical": K, "tied_diag": D, "diag": K * D}
every_shape = pytest.mark.parametrize("kind", SHAPES)


@pytest.fixture
def mixture(kind):
    rng = np.random.default_rng(2)
    labels = SHAPES[kind].labels((K, D))
    variances = np.exp(rng.normal(size=labels.max() + 1))[labels]
    return MixtureParameters(rng.dirichlet(np.ones(K)), rng.normal(size=(K, D)), variances)


@pytest.fixture
def free(kind, mixture):
    return Normal(SHAPES[kind]).free(mixture)


@every_shape
def test_there_is_one_for_each_share_mean_and_different_variance(kind, free):
    assert free.size == K + K * D + N_VARIANCES[kind]


@every_shape
def test_a_step_along_all_log_shares_moves_nothing(kind, free, mixture):
    moved = free.moved(np.r_[np.full(K, 0.7), np.zeros(free.size - K)])
    np.testing.assert_allclose(moved.weights, mixture.weights)


@every_shape
def test_no_step_moves_nothing(kind, free, mixture):
    moved = free.moved(np.zeros(free.size))
    for name, value in vars(mixture).items():
        np.testing.assert_allclose(getattr(moved, name), value, rtol=1e-14)


@every_shape
def test_a_step_moves_means_by_itself_and_variances_by_its_exponential(kind, free, mixture):
    step = np.r_[np.zeros(K), np.arange(K * D), np.full(N_VARIANCES[kind], np.log(2))]
    moved = free.moved(step)
    np.testing.assert_allclose(moved.means - mixture.means, np.arange(K * D).reshape(K, D))
    np.testing.assert_allclose(moved.variances, 2 * mixture.variances)


SPIKED = {
    "spike": np.array([np.nan, 0.0, 1.0, np.nan]),
    "other": np.array([np.nan] * 2 + [0, np.nan]),
}


def allowing(kind, outlier_share=0.05):
    """A mixture with outliers, a spike in one feature, and another of two values."""
    rng = np.random.default_rng(2)
    labels = SHAPES[kind].labels((K, D))
    variances = np.exp(rng.normal(0, 0.5, labels.max() + 1))[labels]
    shares = np.where(np.isnan(SPIKED["spike"]), np.nan, rng.uniform(0.2, 0.8, (K, D)))
    centres = rng.normal(size=(K, D))
    return MixtureParameters(
        rng.dirichlet(np.ones(K)),
        centres,
        variances,
        centres,
        shares,
        outlier_share,
        np.zeros(D),
        np.ones(D),
        **SPIKED,
    )


def cells_with_spikes():
    """Gaps, spikes, third values of two, and wild values."""
    rng = np.random.default_rng(1)
    X = 1.5 * rng.normal(size=(80, D))
    X[rng.random(80) < 0.4, 1] = 0.0
    X[:, 2] = rng.integers(2, size=80)
    X[:3, 2], X[3, 0], X[4, 3] = 0.5, 40.0, -9.0
    X[rng.random(X.shape) < 0.2] = np.nan
    return Block.from_table(X)


def component_height(kind, component):
    """Log-densities (n,) of rows under a component, as a function of the step away."""
    emission, block = Normal(SHAPES[kind]), cells_with_spikes()
    free = emission.free(allowing(kind))
    return lambda step: emission.log_densities(block, free.moved(step))[:, component], free


@every_shape
@pytest.mark.parametrize("component", range(K))
def test_slopes_with_outliers_and_spikes_are_those_of_differences(kind, component):
    height, free = component_height(kind, component)
    where, slope, _ = free.row_scores(cells_with_spikes(), component)
    whole = np.zeros((len(slope), free.size))
    whole[:, where] = slope
    for i, axis in enumerate(np.eye(free.size)[K:], start=K):
        expected = (height(1e-5 * axis) - height(-1e-5 * axis)) / 2e-5
        np.testing.assert_allclose(whole[:, i], expected, rtol=1e-6, atol=1e-7)


@every_shape
def test_bends_with_outliers_and_spikes_are_those_of_differences(kind):
    component, step = 1, 1e-4
    height, free = component_height(kind, component)
    where, slope, bend = free.row_scores(cells_with_spikes(), component)
    weight = np.random.default_rng(3).uniform(0, 2, len(slope))
    axes = step * np.eye(free.size)[where]
    expected = [
        [weight @ (height(u + v) - height(u - v) - height(v - u) + height(-u - v)) for u in axes]
        for v in axes
    ]
    found = bend(weight)
    np.testing.assert_allclose(
        found, -np.divide(expected, 4 * step**2), atol=1e-6 * np.abs(found).max()
    )


@every_shape
def test_a_step_keeps_means_those_of_spikes_and_centres(kind):
    start = allowing(kind)
    free = Normal(SHAPES[kind]).free(start)
    step = 0.1 * np.random.default_rng(4).normal(size=free.size)
    moved = free.moved(step)
    two = ~np.isnan(start.other)

    def mean(one):
        rest = np.where(two, start.other, one.centres)
        share = np.nan_to_num(one.spike_shares)
        return (1 - share) * rest + share * np.nan_to_num(start.spike)

    np.testing.assert_allclose(moved.means - start.means, mean(moved) - mean(start), atol=1e-12)
