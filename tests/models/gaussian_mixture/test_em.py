"""EM with gaps against loops, scikit-learn, and the laws that EM keeps."""

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as SklearnMixture

from halfseen import GaussianMixture, simulate
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.distributions.covariance_types import SHAPES
from halfseen.distributions.emission import posterior
from halfseen.distributions.normal import SMALLEST_SPREAD, Normal
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.latent.structure import ClassSteps, ClassSums
from halfseen.moments.survey import survey

MEANS = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, -2.0]])
WEIGHTS = np.array([0.6, 0.4])
VARIANCES = {
    "tied_spherical": np.full((2, 3), 1.5),
    "spherical": np.array([[1.0] * 3, [2.0] * 3]),
    "tied_diag": np.array([[1.0, 2.0, 0.5]] * 2),
    "diag": np.array([[1.0, 2.0, 0.5], [0.7, 1.0, 3.0]]),
}
NAMES = ("a", "b", "c")
ANY_SHAPE = Normal(SHAPES["diag"])
"""Whose likelihood is right for variances that are shared, too."""


def table(n=300, seed=0, observed=(1.0, 0.7, 0.5)):
    rng = np.random.default_rng(seed)
    X, _ = simulate.gaussian_mixture(n, WEIGHTS, MEANS, [1.0, 2.0], rng)
    return simulate.independent_gaps(X, observed, rng)


def start(kind):
    return MixtureParameters(WEIGHTS, MEANS + 0.3, VARIANCES[kind])


def naive_step(X, parameters, kind):
    """One EM step with loops over rows, features and components."""
    shares = posterior(Block.from_table(X), ANY_SHAPE, parameters).responsibilities
    k, d = parameters.means.shape
    means, squares, counts = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    for c in range(k):
        for j in range(d):
            seen = ~np.isnan(X[:, j])
            r, x = shares[seen, c], X[seen, j]
            counts[c, j] = r.sum()
            means[c, j] = (r * x).sum() / r.sum()
            squares[c, j] = (r * (x - means[c, j]) ** 2).sum()
    if kind == "diag":
        variances = squares / counts
    elif kind == "spherical":
        variances = np.repeat((squares.sum(1) / counts.sum(1))[:, None], d, axis=1)
    elif kind == "tied_diag":
        variances = np.repeat((squares.sum(0) / counts.sum(0))[None], k, axis=0)
    else:
        variances = np.full((k, d), squares.sum() / counts.sum())
    return MixtureParameters(shares.mean(axis=0), means, variances)


def climbed(X, kind, begin=None, weights=None, tolerance=1e-10, max_iterations=2000):
    model = GaussianMixture(covariance_type=kind, outliers=None, prior=None, tol=tolerance)._model()
    rows = MemoryRows(X, NAMES[: X.shape[1]], weights)
    adapted = model.adapted_to(rows, survey(rows, 0.95))
    return adapted.run_em(rows, begin or start(kind), max_iterations)


def mean_log_likelihood(X, parameters):
    return posterior(Block.from_table(X), ANY_SHAPE, parameters).log_likelihood.mean()


@pytest.mark.parametrize("kind", SHAPES)
def test_a_step_is_the_step_written_out(kind):
    X = table()
    emission = Normal(SHAPES[kind])
    sums = ClassSums.under(emission, start(kind))(Block.from_table(X))
    found = ClassSteps(emission).maximise(sums, start(kind))
    expected = naive_step(X, start(kind), kind)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-12)
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-10)
    np.testing.assert_allclose(found.variances, expected.variances, rtol=1e-10)


@pytest.mark.parametrize("kind", SHAPES)
def test_the_likelihood_never_falls(kind):
    X = table()
    heights = [
        climbed(X, kind, tolerance=0.0, max_iterations=n).convergence.log_likelihood
        for n in range(1, 30)
    ]
    assert (np.diff(heights) >= -1e-12).all()
    assert heights[-1] > heights[0]


@pytest.mark.parametrize("kind", SHAPES)
def test_the_end_is_a_fixed_point_of_em_with_the_likelihood_it_reports(kind):
    X = table(1000)
    refined = climbed(X, kind, tolerance=1e-14)
    again = naive_step(X, refined.parameters, kind)
    np.testing.assert_allclose(again.means, refined.parameters.means, atol=1e-5)
    np.testing.assert_allclose(again.variances, refined.parameters.variances, rtol=1e-5)
    height = mean_log_likelihood(X, refined.parameters)
    assert refined.convergence.log_likelihood == pytest.approx(height, rel=1e-12)


@pytest.mark.parametrize("kind", ["spherical", "diag"])
def test_without_gaps_the_maximum_is_scikit_learns(kind):
    X = table(2000, observed=(1, 1, 1))
    precisions = 1 / VARIANCES[kind] if kind == "diag" else 1 / VARIANCES[kind][:, 0]
    other = SklearnMixture(
        2,
        covariance_type=kind,
        tol=1e-10,
        max_iter=5000,
        reg_covar=0,
        weights_init=WEIGHTS,
        means_init=MEANS + 0.3,
        precisions_init=precisions,
    ).fit(X)
    refined = climbed(X, kind)
    np.testing.assert_allclose(refined.parameters.means, other.means_, atol=2e-3)
    assert refined.convergence.log_likelihood == pytest.approx(other.score(X), rel=1e-7)


def test_leaps_reach_the_maximum_of_plain_em_in_fewer_passes():
    rng = np.random.default_rng(1)
    X, _ = simulate.gaussian_mixture(2000, [0.5, 0.5], [[0, 0, 0], [1.2, 1.2, 0]], 1.0, rng)
    begin = MixtureParameters(WEIGHTS, MEANS * 0.2, VARIANCES["spherical"])
    plain, passes, height = begin, 0, -np.inf
    while (higher := mean_log_likelihood(X, plain)) - height >= 1e-9:
        plain, height, passes = naive_step(X, plain, "spherical"), higher, passes + 1
    leapt = climbed(X, "spherical", begin, tolerance=1e-9)
    assert leapt.convergence.log_likelihood >= height - 1e-6
    assert leapt.convergence.n_iterations < passes / 3


def test_row_weights_are_repeats():
    X = table()
    repeats = np.random.default_rng(0).integers(0, 4, len(X))
    weighted = climbed(X, "diag", weights=repeats.astype(float))
    repeated = climbed(np.repeat(X, repeats, axis=0), "diag")
    np.testing.assert_allclose(weighted.parameters.means, repeated.parameters.means, atol=1e-5)
    assert weighted.convergence.log_likelihood == pytest.approx(
        repeated.convergence.log_likelihood, rel=1e-9
    )


def test_a_component_that_no_row_belongs_to_stays_and_does_no_harm():
    X = table()
    far = MixtureParameters(
        np.array([0.5, 0.3, 0.2]), np.vstack([MEANS, [1e4, 1e4, 1e4]]), np.ones((3, 3))
    )
    refined = climbed(X, "spherical", far).parameters
    assert np.isfinite(refined.means).all()
    assert np.isfinite(refined.variances).all()
    assert refined.weights[2] < 1e-6
    two = climbed(X, "spherical", MixtureParameters(WEIGHTS, MEANS, np.ones((2, 3)))).parameters
    np.testing.assert_allclose(refined.means[:2], two.means, atol=1e-3)


def test_a_feature_that_a_component_never_shows_keeps_its_mean():
    rng = np.random.default_rng(0)
    X, labels = simulate.gaussian_mixture(200, WEIGHTS, 50 * MEANS, 1.0, rng)
    X[labels == 1, 2] = np.nan
    begin = MixtureParameters(WEIGHTS, 50 * MEANS, np.ones((2, 3)))
    refined = climbed(X, "tied_spherical", begin).parameters
    assert refined.means[1, 2] == pytest.approx(50 * MEANS[1, 2])


@pytest.mark.parametrize("kind", SHAPES)
def test_variances_have_a_floor(kind):
    X = np.repeat([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 50, axis=0)
    begin = MixtureParameters(WEIGHTS, X[[0, -1]], np.full((2, 3), 0.1))
    refined = climbed(X, kind, begin).parameters
    np.testing.assert_allclose(refined.variances, SMALLEST_SPREAD**2, rtol=1e-9)


def test_densities_of_the_narrowest_components_are_known_to_seven_digits():
    rng = np.random.default_rng(0)
    X = np.r_[np.full((40, 3), 7.0), rng.uniform(0, 7, (60, 3))]
    low, high = X.min(axis=0), X.max(axis=0)
    mean, variance = np.full(3, 7.0), SMALLEST_SPREAD**2 * (high - low) ** 2
    own = MixtureParameters(WEIGHTS, np.array([mean, X.mean(axis=0)]), np.array([variance] * 2))
    near = 7.0 + rng.normal(size=(40, 3)) * np.sqrt(variance)
    found = ANY_SHAPE.log_densities(Block(near, np.ones(near.shape, dtype=bool)), own)[:, 0]
    exact = -0.5 * ((near - mean) ** 2 / variance + np.log(2 * np.pi * variance)).sum(axis=1)
    np.testing.assert_allclose(found, exact, rtol=1e-7)


def test_stopping_early_is_told():
    X = table()
    assert not climbed(X, "diag", tolerance=0.0, max_iterations=3).convergence.converged
    assert climbed(X, "diag").convergence.converged
