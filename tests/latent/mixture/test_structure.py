"""The E-step of mixtures against densities written out, and its sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen import simulate
from halfseen.data.rows import Block
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.emission import posterior
from halfseen.distributions.normal import Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.latent.structure import ClassSums

MEANS = np.array([[0.0, 0.0, 5.0, 1.0], [3.0, 1.0, -5.0, 2.0], [-2.0, 4.0, 0.0, 9.0]])
PARAMETERS = MixtureParameters(np.array([0.5, 0.3, 0.2]), MEANS, np.ones((3, 4)))
VARIANCES = {
    "tied_spherical": np.full((3, 4), 1.5),
    "spherical": np.repeat([[1.0], [2.0], [0.5]], 4, axis=1),
    "tied_diag": np.repeat([[1.0, 2.0, 0.5, 3.0]], 3, axis=0),
    "diag": np.random.default_rng(1).uniform(0.5, 3, (3, 4)),
}
EMISSIONS = {kind: Normal(shape) for kind, shape in SHAPES.items()}
every_shape = pytest.mark.parametrize("kind", SHAPES)


def gappy(n, observed=(1, 1, 1, 0.4)):
    rng = np.random.default_rng(0)
    X, _ = simulate.gaussian_mixture(n, PARAMETERS.weights, MEANS, 1.0, rng)
    return simulate.independent_gaps(X, observed, rng)


def moved(kind):
    return MixtureParameters(PARAMETERS.weights, MEANS + 0.3, VARIANCES[kind])


def test_every_feature_of_every_component_can_have_its_own_variance():
    X = gappy(30, observed=[0.7] * 4)
    variances = np.random.default_rng(1).uniform(0.5, 3, (3, 4))
    mixture = MixtureParameters(PARAMETERS.weights, MEANS, variances)
    found = posterior(Block.from_table(X), EMISSIONS["diag"], mixture)
    for row, log_likelihood, shares in zip(X, *found, strict=True):
        seen = ~np.isnan(row)
        densities = [
            np.prod(np.exp(-0.5 * (row - a)[seen] ** 2 / v[seen]) / np.sqrt(2 * np.pi * v[seen]))
            for a, v in zip(MEANS, variances, strict=True)
        ]
        joint = PARAMETERS.weights * np.array(densities)
        np.testing.assert_allclose(log_likelihood, np.log(joint.sum()), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(shares, joint / joint.sum(), rtol=1e-9)


@every_shape
def test_values_far_from_zero_lose_no_digits(kind):
    X = gappy(20)
    near = posterior(Block.from_table(X), EMISSIONS[kind], PARAMETERS)
    shifted = MixtureParameters(PARAMETERS.weights, MEANS + 1e6, PARAMETERS.variances)
    far = posterior(Block.from_table(X + 1e6), EMISSIONS[kind], shifted)
    np.testing.assert_allclose(far.log_likelihood, near.log_likelihood, rtol=1e-7)


@every_shape
def test_the_sums_have_the_likelihood_and_responsibilities_of_the_posteriors(kind):
    X = gappy(300, observed=(1.0, 1.0, 0.7, 0.5))
    slow = posterior(Block.from_table(X), EMISSIONS[kind], moved(kind))
    fast = ClassSums.under(EMISSIONS[kind], moved(kind))(Block.from_table(X))
    assert fast.log_likelihood == pytest.approx(slow.log_likelihood.sum(), rel=1e-12)
    np.testing.assert_allclose(fast.share, slow.responsibilities.sum(axis=0), rtol=1e-12)
    first, count, second = fast.statistics
    zeros = np.nan_to_num(X)
    np.testing.assert_allclose(first, slow.responsibilities.T @ zeros, rtol=1e-11)
    np.testing.assert_allclose(count, slow.responsibilities.T @ ~np.isnan(X), rtol=1e-12)
    squares = slow.responsibilities.T @ zeros**2
    summed = squares if second.shape == squares.shape else squares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(second, summed, rtol=1e-11)


@every_shape
def test_weights_of_rows_are_repeats(kind):
    X = gappy(60)
    repeats = np.random.default_rng(2).integers(0, 4, len(X))
    step = ClassSums.under(EMISSIONS[kind], moved(kind))
    weighted = step(Block.from_table(X, repeats.astype(float)))
    repeated = step(Block.from_table(np.repeat(X, repeats, axis=0)))
    assert_same(weighted, repeated)


@every_shape
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 300), max_size=4))
def test_any_split_of_the_rows_gives_the_sums_of_all(kind, cuts):
    X = gappy(300, observed=(1.0, 1.0, 0.7, 0.5))
    step = ClassSums.under(EMISSIONS[kind], moved(kind))
    pieces = [step(Block.from_table(part)) for part in np.split(X, sorted(cuts))]
    merged = pieces[-1]
    for piece in pieces[:-1]:
        merged = merged + piece
    assert_same(merged, step(Block.from_table(X)))


def assert_same(ours, theirs):
    for name in ("n_rows", "log_likelihood", "share"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-11)
    for one, other in zip(ours.statistics, theirs.statistics, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)
