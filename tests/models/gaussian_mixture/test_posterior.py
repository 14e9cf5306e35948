"""Posteriors of mixtures, and the means of incomplete features that follow from them."""

import numpy as np
from halfseen.models.gaussian_mixture.posterior import MixtureRegression, posterior

from halfseen import simulate
from halfseen.method.regression import recovered
from halfseen.models.gaussian_mixture.covariance_shape import SHAPES
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.rows.memory import MemoryRows
from halfseen.rows.rows import Block

MEANS = np.array([[0.0, 0.0, 5.0, 1.0], [3.0, 1.0, -5.0, 2.0], [-2.0, 4.0, 0.0, 9.0]])
TIED = SHAPES["tied_spherical"]
PARAMETERS = MixtureParameters(np.array([0.5, 0.3, 0.2]), MEANS, np.ones((3, 4)))


def gappy(n, observed=(1, 1, 1, 0.4)):
    rng = np.random.default_rng(0)
    X, labels = simulate.gaussian_mixture(n, PARAMETERS.weights, MEANS, 1.0, rng)
    return simulate.independent_gaps(X, observed, rng), labels


def test_every_feature_of_every_component_can_have_its_own_variance():
    X, _ = gappy(30, observed=[0.7] * 4)
    variances = np.random.default_rng(1).uniform(0.5, 3, (3, 4))
    found = posterior(Block.from_table(X), MixtureParameters(PARAMETERS.weights, MEANS, variances))
    for row, log_likelihood, shares in zip(X, *found, strict=True):
        seen = ~np.isnan(row)
        densities = [
            np.prod(np.exp(-0.5 * (row - a)[seen] ** 2 / v[seen]) / np.sqrt(2 * np.pi * v[seen]))
            for a, v in zip(MEANS, variances, strict=True)
        ]
        joint = PARAMETERS.weights * np.array(densities)
        np.testing.assert_allclose(log_likelihood, np.log(joint.sum()), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(shares, joint / joint.sum(), rtol=1e-9)


def test_values_far_from_zero_lose_no_digits():
    X, _ = gappy(20)
    near = posterior(Block.from_table(X), PARAMETERS)
    shifted = MixtureParameters(PARAMETERS.weights, MEANS + 1e6, PARAMETERS.variances)
    far = posterior(Block.from_table(X + 1e6), shifted)
    np.testing.assert_allclose(far.log_likelihood, near.log_likelihood, rtol=1e-7)


def test_means_of_incomplete_features_are_the_regression_written_out():
    X, _ = gappy(400)
    complete = np.array([True, True, True, False])
    start = PARAMETERS.select(complete)
    origin = np.nanmean(X, axis=0)
    found = recovered(
        MemoryRows(X, tuple("abcd")), MixtureRegression(origin, TIED), start, complete
    )
    seen = ~np.isnan(X[:, 3])
    shares = posterior(Block.from_table(X[:, :3]), start).responsibilities[seen]
    expected, *_ = np.linalg.lstsq(shares, X[seen, 3], rcond=None)
    np.testing.assert_allclose(found.means[:, 3], expected, rtol=1e-9)
    np.testing.assert_array_equal(found.means[:, :3], MEANS[:, :3])


def test_a_component_about_which_nothing_is_known_stays_at_the_mean():
    X, labels = gappy(400)
    X[labels == 2, 3] = np.nan
    far = MixtureParameters(PARAMETERS.weights, 100 * MEANS, PARAMETERS.variances)
    complete = np.array([True, True, True, False])
    X[:, :3] = 100 * MEANS[labels, :3]
    origin = np.nanmean(X, axis=0)
    found = recovered(
        MemoryRows(X, tuple("abcd")),
        MixtureRegression(origin, TIED),
        far.select(complete),
        complete,
    )
    np.testing.assert_allclose(found.means[2, 3], origin[3], rtol=1e-9)


def test_further_features_have_the_variance_that_their_regression_leaves_over():
    X, _ = gappy(4000)
    complete = np.array([True, True, True, False])
    origin = np.nanmean(X, axis=0)
    rows, start = MemoryRows(X, tuple("abcd")), PARAMETERS.select(complete)
    found = recovered(rows, MixtureRegression(origin, SHAPES["diag"]), start, complete)
    seen = ~np.isnan(X[:, 3])
    shares = posterior(Block.from_table(X[:, :3]), start).responsibilities[seen]
    _, residual, *_ = np.linalg.lstsq(shares, X[seen, 3], rcond=None)
    np.testing.assert_allclose(found.variances[:, 3], residual[0] / seen.sum(), rtol=1e-8)
    tied = recovered(rows, MixtureRegression(origin, TIED), start, complete)
    np.testing.assert_array_equal(tied.variances, 1.0)
