"""Means of incomplete features, and what regression on the components leaves over."""

import numpy as np

from halfseen import simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.emission import posterior
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.parameters import select
from halfseen.latent.structure import ClassRegression
from halfseen.moments.regression import recovered

MEANS = np.array([[0.0, 0.0, 5.0, 1.0], [3.0, 1.0, -5.0, 2.0], [-2.0, 4.0, 0.0, 9.0]])
TIED, DIAGONAL = Normal(SHAPES["tied_spherical"]), Normal(SHAPES["diag"])
PARAMETERS = MixtureParameters(np.array([0.5, 0.3, 0.2]), MEANS, np.ones((3, 4)))


def gappy(n, observed=(1, 1, 1, 0.4)):
    rng = np.random.default_rng(0)
    X, labels = simulate.gaussian_mixture(n, PARAMETERS.weights, MEANS, 1.0, rng)
    return simulate.independent_gaps(X, observed, rng), labels


def test_means_of_incomplete_features_are_the_regression_written_out():
    X, _ = gappy(400)
    complete = np.array([True, True, True, False])
    start = select(PARAMETERS, complete)
    origin = np.nanmean(X, axis=0)
    found = recovered(MemoryRows(X, tuple("abcd")), ClassRegression(TIED, origin), start, complete)
    seen = ~np.isnan(X[:, 3])
    shares = posterior(Block.from_table(X[:, :3]), TIED, start).responsibilities[seen]
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
        ClassRegression(TIED, origin),
        select(far, complete),
        complete,
    )
    np.testing.assert_allclose(found.means[2, 3], origin[3], rtol=1e-9)


def test_further_features_have_the_variance_that_their_regression_leaves_over():
    X, _ = gappy(4000)
    complete = np.array([True, True, True, False])
    origin = np.nanmean(X, axis=0)
    rows, start = MemoryRows(X, tuple("abcd")), select(PARAMETERS, complete)
    found = recovered(rows, ClassRegression(DIAGONAL, origin), start, complete)
    seen = ~np.isnan(X[:, 3])
    shares = posterior(Block.from_table(X[:, :3]), TIED, start).responsibilities[seen]
    _, residual, *_ = np.linalg.lstsq(shares, X[seen, 3], rcond=None)
    np.testing.assert_allclose(found.variances[:, 3], residual[0] / seen.sum(), rtol=1e-8)
    tied = recovered(rows, ClassRegression(TIED, origin), start, complete)
    np.testing.assert_array_equal(tied.variances, 1.0)
