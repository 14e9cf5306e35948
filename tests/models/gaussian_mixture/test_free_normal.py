"""The free numbers of a mixture of normals: how many there are, and what a step moves."""

import numpy as np
import pytest

from halfseen.models.gaussian_mixture.covariance import SHAPES
from halfseen.models.gaussian_mixture.emission import Normal
from halfseen.models.gaussian_mixture.parameters import MixtureParameters

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
