"""From exact moments to exact mixtures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.inference.tensor_decomposition import DECOMPOSERS
from halfseen.latent.moment_tensor import FORMS
from halfseen.models.gaussian_mixture.covariance_selection import COVARIANCES
from halfseen.models.gaussian_mixture.cumulants import (
    NOISE_EIGENVALUES,
    GaussianCumulants,
    exact_rank,
)
from halfseen.moments.whitening import Signal

NOISES = {name: one.noise for name, one in COVARIANCES.items() if one.noise}

EACH_FORM = pytest.mark.parametrize("form", FORMS)
EACH_NOISE = pytest.mark.parametrize("noise", ["tied_spherical", "spherical"])
SEED = st.integers(0, 2**16)


def gaussian(form="centred", noise="tied_spherical", n_noise=exact_rank):
    return GaussianCumulants(FORMS[form], NOISES[noise], n_noise)


def draw_weights(seed, d):
    return np.random.default_rng(seed).uniform(0.1, 5.0, d)


@EACH_FORM
@EACH_NOISE
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@given(seed=SEED)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_exact_moments_with_any_feature_weights_give_the_exact_mixture(
    draw_mixture, solve, assert_mixture, form, noise, k, seed
):
    true = draw_mixture(seed, k, k + 3, tied=noise == "tied_spherical")
    model = gaussian(form, noise)
    moments, third = true.moments(model.centred), true.third(model.centred)
    found = solve(model, moments, third, k, draw_weights(seed, k + 3)).parameters
    assert_mixture(found, true.weights, true.means, true.variances)


@EACH_FORM
@EACH_NOISE
@pytest.mark.parametrize("decomposer", DECOMPOSERS)
def test_every_decomposer_gives_the_exact_mixture(
    draw_mixture, solve, assert_mixture, form, noise, decomposer
):
    true = draw_mixture(11, 4, 7, tied=noise == "tied_spherical")
    model = gaussian(form, noise)
    moments, third = true.moments(model.centred), true.third(model.centred)
    found = solve(model, moments, third, 4, decomposer=DECOMPOSERS[decomposer]).parameters
    assert_mixture(found, true.weights, true.means, true.variances)


@EACH_FORM
@EACH_NOISE
@pytest.mark.parametrize("eigenvalues", NOISE_EIGENVALUES)
def test_incomplete_features_do_not_keep_the_mixture_from_being_exact(
    draw_mixture, solve, assert_mixture, form, noise, eigenvalues
):
    true = draw_mixture(12, 3, 8, tied=noise == "tied_spherical")
    model = gaussian(form, noise, NOISE_EIGENVALUES[eigenvalues])
    complete = np.array([True, False, True, True, False, True, True, False])
    moments, third = true.moments(model.centred), true.third(model.centred)
    found = solve(model, moments, third, 3, draw_weights(1, 8), complete).parameters
    assert_mixture(found, true.weights, true.means, true.variances)


@EACH_NOISE
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_centred_form_holds_as_many_components_as_features(
    draw_mixture, solve, assert_mixture, noise, k
):
    true = draw_mixture(13, k, k, tied=noise == "tied_spherical")
    solution = solve(gaussian("centred", noise), true.moments(True), true.third(True), k)
    assert solution.evidence.whitening.rank == k - 1
    assert_mixture(solution.parameters, true.weights, true.means, true.variances)


def dependent_means(kind, weights, means):
    if kind == "one at the origin":
        return means * np.array([0.0, 1.0, 1.0, 1.0])[:, None]
    if kind == "standardised":
        return means - weights @ means
    return np.vstack([means[:3], means[0] - 2 * means[1] + 0.5 * means[2]])


@EACH_NOISE
@pytest.mark.parametrize("kind", ["one at the origin", "standardised", "dependent"])
def test_linearly_dependent_means_break_the_raw_form_and_not_the_centred(
    draw_mixture, mixture, solve, assert_mixture, noise, kind
):
    drawn = draw_mixture(14, 4, 7, tied=noise == "tied_spherical")
    means = dependent_means(kind, drawn.weights, drawn.means)
    true = mixture(drawn.weights, means, drawn.variances)
    found = solve(gaussian("centred", noise), true.moments(True), true.third(True), 4)
    assert_mixture(found.parameters, true.weights, true.means, true.variances)
    raw = np.linalg.eigvalsh(
        gaussian("raw").signal(true.moments(False), np.ones(7, bool), 4).matrix
    )
    assert abs(raw[-4]) < 1e-12 * raw[-1]


@EACH_FORM
@EACH_NOISE
def test_the_tensor_is_orthogonally_decomposable(draw_mixture, solve, form, noise):
    true = draw_mixture(15, 4, 7, tied=noise == "tied_spherical")
    model = gaussian(form, noise)
    moments, third = true.moments(model.centred), true.third(model.centred)
    solution = solve(model, moments, third, 4, draw_weights(15, 7))
    places = true.from_origin(model.centred) @ solution.evidence.whitening.forward
    if model.centred:
        places = np.hstack([np.ones((4, 1)), places])
    v = np.sqrt(true.weights)[:, None] * places
    np.testing.assert_allclose(v @ v.T, np.eye(4), atol=1e-11)
    expected = np.einsum("k,ka,kb,kc->abc", true.weights**-0.5, v, v, v)
    np.testing.assert_allclose(solution.tensor, expected, atol=1e-10)


@EACH_FORM
@EACH_NOISE
def test_values_of_the_decomposition_are_inverse_roots_of_the_mixing_weights(
    draw_mixture, solve, form, noise
):
    true = draw_mixture(16, 5, 8, tied=noise == "tied_spherical")
    model = gaussian(form, noise)
    solution = solve(model, true.moments(model.centred), true.third(model.centred), 5)
    np.testing.assert_allclose(
        np.sort(solution.decomposition.values), np.sort(true.weights**-0.5), rtol=1e-10
    )
    assert solution.decomposition.off_diagonal < 1e-12


def test_weights_act_as_the_third_moment_of_rescaled_features_does(draw_mixture, solve):
    true, w = draw_mixture(17, 3, 6, tied=True), draw_weights(17, 6)
    solution = solve(gaussian("raw"), true.moments(False), true.third(False), 3, w)
    rescaled, cov = true.means * w, np.diag(0.7 * w**2)
    second = (true.weights * rescaled.T) @ rescaled
    values, vectors = np.linalg.eigh(second)
    whitener = vectors[:, :2:-1] / np.sqrt(values[:2:-1])
    noise = np.einsum("ij,k->ijk", cov, true.weights @ rescaled)
    noise = noise + noise.transpose(0, 2, 1) + noise.transpose(2, 1, 0)
    raw = np.einsum("i,j,k,ijk->ijk", w, w, w, true.third(False))
    expected = np.einsum("ijk,ia,jb,kc->abc", raw - noise, whitener, whitener, whitener)
    signs = np.sign(np.sum(whitener * solution.evidence.whitening.forward / w[:, None], axis=0))
    expected = np.einsum("a,b,c,abc->abc", signs, signs, signs, expected)
    np.testing.assert_allclose(solution.tensor, expected, atol=1e-10)


def test_a_full_covariance_shared_by_components_needs_no_correction_of_the_third_moment(
    draw_mixture, sample_moments, solve
):
    true = draw_mixture(18, 4, 6)
    root = np.random.default_rng(18).standard_normal((6, 6))
    points, probabilities = true.atoms(root)
    moments, third = sample_moments(points, True, probabilities)
    signal = Signal(
        moments.second - root @ root.T,
        noise=np.diag(root @ root.T),
        null=np.empty((6, 0)),
        unit=np.ones(6),
    )
    found = solve(gaussian(), moments, third, 4, signal=signal).parameters
    order = [np.argmin(np.abs(found.means - a).sum(axis=1)) for a in true.means]
    np.testing.assert_allclose(found.means[order], true.means, atol=1e-9)
    np.testing.assert_allclose(found.weights[order], true.weights, atol=1e-9)


def test_signal_is_the_second_moment_without_the_noise_on_its_diagonal(draw_mixture):
    true = draw_mixture(26, 3, 6)
    signal = gaussian().signal(true.moments(True), np.ones(6, bool), 3)
    b = true.means - true.mean
    np.testing.assert_allclose(signal.matrix, (true.weights * b.T) @ b, atol=1e-11)
    np.testing.assert_allclose(signal.noise, np.full(6, true.weights @ true.variances), atol=1e-11)
    np.testing.assert_array_equal(signal.unit, np.ones(6))
    np.testing.assert_allclose(signal.variance, true.weights @ b**2, atol=1e-11)


@EACH_FORM
def test_noise_in_proportion_to_each_features_variance_is_exact_with_tied_diagonals(
    draw_mixture, sample_moments, solve, assert_mixture, form
):
    true, model = draw_mixture(27, 4, 7), gaussian(form, "diag")
    between = true.weights @ (true.means - true.mean) ** 2
    points, probabilities = true.atoms(np.diag(np.sqrt(0.4 * between)))
    moments, third = sample_moments(points, model.centred, probabilities)
    found = solve(model, moments, third, 4, draw_weights(27, 7)).parameters
    assert_mixture(found, true.weights, true.means, np.tile(0.4 * between, (4, 1)))
