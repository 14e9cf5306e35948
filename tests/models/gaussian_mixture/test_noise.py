"""What noise adds to the third moment, against plain means over rows."""

import numpy as np
import pytest

from halfseen.latent.moment_tensor import FORMS, Located
from halfseen.models.gaussian_mixture.covariance_selection import COVARIANCES
from halfseen.models.gaussian_mixture.cumulants import GaussianCumulants, exact_rank

NOISES = {name: one.noise for name, one in COVARIANCES.items() if one.noise}

EACH_FORM = pytest.mark.parametrize("form", FORMS)


def draw_rows(seed, n=50, d=6):
    rng = np.random.default_rng(seed)
    return rng.gamma(2.0, 1.0, (n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def evidence_of(solve, sample_moments, rows, form, noise, k=3):
    model = GaussianCumulants(FORMS[form], NOISES[noise], exact_rank)
    weights = np.linspace(0.5, 2.0, rows.shape[1])
    return solve(model, *sample_moments(rows, model.centred), k, weights).evidence


@EACH_FORM
def test_the_spherical_slope_is_a_mean_over_rows_and_null_directions(solve, sample_moments, form):
    rows = draw_rows(1)
    evidence = evidence_of(solve, sample_moments, rows, form, "spherical")
    away, centred = rows - evidence.moments.origin, rows - rows.mean(axis=0)
    null = evidence.signal.null.T
    naive = np.mean([(away * ((centred @ v) ** 2)[:, None]).mean(axis=0) for v in null], axis=0)
    expected = evidence.whitening.forward.T @ naive
    assert len(null) == 6 - 3 + 1
    np.testing.assert_allclose(NOISES["spherical"].slope(evidence), expected, atol=1e-10)


@EACH_FORM
def test_the_tied_slope_is_the_noise_times_the_mean_as_seen_from_the_origin(
    solve, sample_moments, form
):
    rows = draw_rows(2)
    evidence = evidence_of(solve, sample_moments, rows, form, "tied_spherical")
    variance = np.sort(np.linalg.eigvalsh(np.cov(rows.T, bias=True)))[:4].mean()
    mean = rows.mean(axis=0) * (form == "raw")
    expected = variance * evidence.whitening.forward.T @ mean
    np.testing.assert_allclose(NOISES["tied_spherical"].slope(evidence), expected, atol=1e-12)


@EACH_FORM
@pytest.mark.parametrize("noise", NOISES)
def test_the_tensor_is_the_third_moment_without_the_slope_in_three_places(
    solve, sample_moments, form, noise
):
    rows = draw_rows(3)
    evidence = evidence_of(solve, sample_moments, rows, form, noise)
    forward, slope = evidence.whitening.forward, NOISES[noise].slope(evidence)
    white = (rows - evidence.moments.origin) @ forward
    expected = np.einsum("na,nb,nc->abc", white, white, white) / len(rows)
    f = forward * (rows.std(axis=0) if noise in ("tied_diag", "diag") else np.ones(6))[:, None]
    r = white.shape[1]
    for a in range(r):
        for b in range(r):
            for c in range(r):
                expected[a, b, c] -= f[:, a] @ f[:, b] * slope[c]
                expected[a, b, c] -= f[:, a] @ f[:, c] * slope[b]
                expected[a, b, c] -= f[:, b] @ f[:, c] * slope[a]
    model = GaussianCumulants(FORMS[form], NOISES[noise], exact_rank)
    found = model.tensor(evidence)[-r:, -r:, -r:]
    np.testing.assert_allclose(found, expected, atol=1e-10)


@EACH_FORM
@pytest.mark.parametrize("noise", NOISES)
def test_noise_is_alike_in_units_of_spread_for_tied_diagonals_and_as_it_is_for_the_others(
    sample_moments, form, noise
):
    rows = draw_rows(8)
    unit = NOISES[noise].unit(sample_moments(rows, form == "centred")[0])
    expected = rows.std(axis=0) if noise in ("tied_diag", "diag") else np.ones(6)
    np.testing.assert_allclose(unit, expected, rtol=1e-10)


def test_the_noise_of_tied_diagonals_is_that_of_the_correlations_in_those_units(
    solve, sample_moments
):
    rows = draw_rows(9)
    signal = evidence_of(solve, sample_moments, rows, "centred", "diag").signal
    level = np.sort(np.linalg.eigvalsh(np.corrcoef(rows.T)))[:4].mean()
    np.testing.assert_allclose(signal.noise, level * rows.var(axis=0), rtol=1e-10)
    covariance = np.cov(rows.T, bias=True)
    np.testing.assert_allclose(signal.matrix, covariance - np.diag(signal.noise), atol=1e-10)


def test_only_variances_of_their_own_need_more_of_the_third_moment(solve, sample_moments):
    signal = evidence_of(solve, sample_moments, draw_rows(4), "raw", "spherical").signal
    assert NOISES["tied_spherical"].probe(signal).shape == (6, 0)
    np.testing.assert_array_equal(NOISES["spherical"].probe(signal), signal.null)


@EACH_FORM
def test_tied_components_all_have_the_noise_of_the_signal(solve, sample_moments, form):
    evidence = evidence_of(solve, sample_moments, draw_rows(5), form, "tied_spherical")
    located = Located(np.array([0.2, 0.3, 0.5]), np.zeros((3, 2)))
    variances = NOISES["tied_spherical"].variances(evidence, located)
    np.testing.assert_array_equal(variances, np.full(3, evidence.signal.noise[0]))


@EACH_FORM
def test_variances_solve_the_equations_of_their_mean_and_slope(draw_mixture, solve, form):
    true = draw_mixture(6, 3, 6)
    model = GaussianCumulants(FORMS[form], NOISES["spherical"], exact_rank)
    moments, third = true.moments(model.centred), true.third(model.centred)
    evidence = solve(model, moments, third, 3).evidence
    places = true.from_origin(model.centred) @ evidence.whitening.forward
    variances = NOISES["spherical"].variances(evidence, Located(true.weights, places))
    shares = true.weights * variances
    assert shares.sum() == pytest.approx(true.weights @ true.variances, rel=1e-10)
    slope = NOISES["spherical"].slope(evidence)
    np.testing.assert_allclose(shares @ places, slope, atol=1e-10)
    np.testing.assert_allclose(variances, true.variances, rtol=1e-9)


def test_no_variance_is_below_a_hundredth_of_their_mean(solve, sample_moments):
    evidence = evidence_of(solve, sample_moments, draw_rows(7), "centred", "spherical")
    slope = NOISES["spherical"].slope(evidence)
    # A slope that lies beyond the first component leaves nothing for the two others.
    places = np.vstack([slope, -slope, -2 * slope]) / evidence.signal.noise[0]
    variances = NOISES["spherical"].variances(evidence, Located(np.full(3, 1 / 3), places))
    mean = evidence.signal.noise[0]
    np.testing.assert_allclose(variances, [3 * mean, mean / 100, mean / 100], rtol=1e-9)
