"""What holds for the mixtures read off any moments, exact or not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.latent.moment_tensor import FORMS
from halfseen.models.gaussian_mixture.covariance_selection import COVARIANCES
from halfseen.models.gaussian_mixture.cumulants import GaussianCumulants, exact_rank

NOISES = {name: one.noise for name, one in COVARIANCES.items() if one.noise}

EACH_FORM = pytest.mark.parametrize("form", FORMS)
EACH_NOISE = pytest.mark.parametrize("noise", NOISES)
SEED = st.integers(0, 2**16)
LAW = settings(max_examples=20, deadline=None, derandomize=True)


def gaussian(form="centred", noise="tied_spherical"):
    return GaussianCumulants(FORMS[form], NOISES[noise], exact_rank)


def draw_weights(seed, d):
    return np.random.default_rng(seed).uniform(0.1, 5.0, d)


@EACH_NOISE
@given(seed=SEED, shift=st.floats(-1e3, 1e3))
@LAW
def test_shifting_the_rows_shifts_the_means_and_nothing_else_in_the_centred_form(
    draw_mixture, sample_moments, solve, assert_mixture, noise, seed, shift
):
    rows = draw_mixture(20, 3, 6).rows(seed)
    by = shift * np.random.default_rng(seed).uniform(-1, 1, 6)
    here, there = (
        solve(gaussian("centred", noise), *sample_moments(x, True), 3).parameters
        for x in (rows, rows + by)
    )
    assert_mixture(there, here.weights, here.means + by, here.variances, 1e-8)


@EACH_FORM
@EACH_NOISE
@given(seed=SEED, exponent=st.floats(-6, 6))
@LAW
def test_scaling_the_rows_scales_means_by_as_much_and_variances_by_its_square(
    draw_mixture, sample_moments, solve, assert_mixture, form, noise, seed, exponent
):
    rows, t, model = draw_mixture(21, 3, 6).rows(seed), 10.0**exponent, gaussian(form, noise)
    small, large = (
        solve(model, *sample_moments(x, model.centred), 3).parameters for x in (rows, t * rows)
    )
    assert_mixture(large, small.weights, t * small.means, t**2 * small.variances, 1e-8)


@EACH_FORM
@EACH_NOISE
@given(seed=SEED)
@LAW
def test_permuting_the_features_permutes_the_answer(
    draw_mixture, sample_moments, solve, assert_mixture, form, noise, seed
):
    rows, w, model = (
        draw_mixture(22, 3, 6).rows(seed),
        draw_weights(seed, 6),
        gaussian(form, noise),
    )
    order = np.random.default_rng(seed).permutation(6)
    here = solve(model, *sample_moments(rows, model.centred), 3, w).parameters
    there = solve(model, *sample_moments(rows[:, order], model.centred), 3, w[order]).parameters
    assert_mixture(there, here.weights, here.means[:, order], here.variances[:, order], 1e-8)


@EACH_FORM
@pytest.mark.parametrize("noise", ["tied_spherical", "spherical"])
@given(seed=SEED)
@LAW
def test_rotating_the_rows_rotates_the_means_where_features_weigh_the_same(
    draw_mixture, sample_moments, solve, assert_mixture, form, noise, seed
):
    rows, model = draw_mixture(23, 3, 6).rows(seed), gaussian(form, noise)
    rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((6, 6)))[0]
    here, there = (
        solve(model, *sample_moments(x, model.centred), 3).parameters
        for x in (rows, rows @ rotation)
    )
    assert_mixture(there, here.weights, here.means @ rotation, here.variances, 1e-8)


@EACH_FORM
@given(seed=SEED, scale=st.floats(1e-3, 1e3))
@LAW
def test_only_the_ratios_of_feature_weights_matter(
    draw_mixture, sample_moments, solve, assert_mixture, form, seed, scale
):
    rows, w, model = draw_mixture(24, 3, 6).rows(seed), draw_weights(seed, 6), gaussian(form)
    moments, third = sample_moments(rows, model.centred)
    one, other = (solve(model, moments, third, 3, t * w).parameters for t in (1.0, scale))
    assert_mixture(other, one.weights, one.means, one.variances, 1e-8)


@EACH_FORM
@EACH_NOISE
def test_parameters_from_noisy_moments_are_those_of_a_mixture(
    draw_mixture, sample_moments, solve, form, noise
):
    rows, model = draw_mixture(25, 5, 7).rows(25, n=60), gaussian(form, noise)
    found = solve(model, *sample_moments(rows, model.centred), 5).parameters
    assert found.weights.sum() == pytest.approx(1.0)
    assert (found.weights > 0).all()
    assert (found.variances > 0).all()
    assert found.variances.shape == found.means.shape == (5, 7)


@EACH_FORM
@given(seed=SEED)
@LAW
def test_units_of_features_do_not_matter_to_tied_diagonals(
    draw_mixture, sample_moments, solve, assert_mixture, form, seed
):
    rows, w, model = (
        draw_mixture(26, 3, 6).rows(seed),
        draw_weights(seed, 6),
        gaussian(form, "diag"),
    )
    units = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 6)
    here = solve(model, *sample_moments(rows, model.centred), 3, w).parameters
    there = solve(model, *sample_moments(rows * units, model.centred), 3, w).parameters
    found = type(there)(there.weights, there.means / units, there.variances / units**2)
    assert_mixture(found, here.weights, here.means, here.variances, 1e-8)


@EACH_NOISE
def test_signals_from_raw_and_central_moments_have_the_same_noise(
    draw_mixture, sample_moments, noise
):
    rows, complete = draw_mixture(27, 3, 6).rows(27), np.ones(6, bool)
    raw, central = (
        gaussian(form, noise).signal(sample_moments(rows, form == "centred")[0], complete, 3)
        for form in ("raw", "centred")
    )
    np.testing.assert_allclose(raw.noise, central.noise, rtol=1e-10)
    np.testing.assert_allclose(raw.unit, central.unit, rtol=1e-10)
    np.testing.assert_allclose(raw.null @ raw.null.T, central.null @ central.null.T, atol=1e-9)
    mean = rows.mean(axis=0)
    np.testing.assert_allclose(raw.matrix - np.outer(mean, mean), central.matrix, atol=1e-10)
