"""What states leave of columns, against normal vectors conditioned by hand."""

from itertools import pairwise

import numpy as np
import pytest

from halfseen import HiddenMarkov
from halfseen.latent.autocorrelation import AutocovarianceSums, draw_levels, smooth_levels

BEGINS = np.array([0, 5, 6, 9])
FADING_OF = (0.8, 0.5)
SHARE, FADING = np.array([0.7, 0.3]), np.array([0.8, 0.95])


def observed(seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(9, 2))
    z[rng.random(z.shape) < 0.4] = np.nan
    z[6:9, 0] = np.nan  # a sequence of which nothing is known
    return z


def conditioned(z, first, last, j):
    """Mean and covariance of u given the observed residuals of one sequence."""
    apart = np.abs(np.subtract.outer(np.arange(last - first), np.arange(last - first)))
    prior = SHARE[j] * FADING[j] ** apart
    seen = ~np.isnan(z[first:last, j])
    noisy = prior[np.ix_(seen, seen)] + (1 - SHARE[j]) * np.eye(seen.sum())
    back = prior[:, seen] @ np.linalg.inv(noisy) if seen.any() else np.zeros((last - first, 0))
    return back @ z[first:last, j][seen], prior - back @ prior[seen]


def test_levels_are_those_of_a_normal_vector_given_part_of_it():
    z = observed()
    level, doubt = np.zeros_like(z), np.zeros_like(z)
    smooth_levels(z, BEGINS, SHARE, FADING, level, doubt)
    for first, last in pairwise(BEGINS):
        for j in range(2):
            mean, covariance = conditioned(z, first, last, j)
            np.testing.assert_allclose(level[first:last, j], mean, atol=1e-10)
            np.testing.assert_allclose(doubt[first:last, j], covariance.diagonal(), atol=1e-10)


def test_drawn_levels_have_that_law():
    z, rng, n = observed(), np.random.default_rng(1), 4000
    drawn = np.zeros((n, *z.shape))
    for one in drawn:
        draw_levels(z, BEGINS, SHARE, FADING, rng.normal(size=z.shape), one)
    mean, covariance = conditioned(z, 0, 5, 0)
    np.testing.assert_allclose(drawn[:, :5, 0].mean(axis=0), mean, atol=5 / np.sqrt(n))
    np.testing.assert_allclose(np.cov(drawn[:, :5, 0].T), covariance, atol=5 / np.sqrt(n))


def test_numbers_are_read_off_autocovariances():
    lags = np.arange(1, 5)[:, None]
    counts = np.full((4, 3), 1000.0)
    seen = np.column_stack(
        [0.7 * FADING_OF[0] ** lags, 0.4 * FADING_OF[1] ** lags, 0.04 + 0 * lags]
    )
    found = AutocovarianceSums(2 * counts[0], counts[0], 2 * counts * seen, counts)
    share, fading = found.lasting()
    np.testing.assert_allclose(share, [0.7, 0.4, 0.0], atol=1e-6)
    np.testing.assert_allclose(fading, [*FADING_OF, 0.0], atol=1e-9)


def sequences(seed, lasts, n=150, length=20):
    """Two states, and columns of which each patient has a share of his own."""
    rng = np.random.default_rng(seed)
    h = np.zeros((n, length), dtype=int)
    for t in range(1, length):
        h[:, t] = np.where(rng.random(n) < 0.9, h[:, t - 1], 1 - h[:, t - 1])
    own = rng.normal(size=(n, 1, 4)) * np.sqrt(lasts)
    noise = rng.normal(size=(n, length, 4)) * np.sqrt(1 - lasts)
    X = (5.0 * h[:, :, None] + own + noise).reshape(-1, 4)
    hidden = rng.random(X.shape) < 0.2
    return X, np.where(hidden, np.nan, X), hidden, [length] * n


def test_gaps_lean_on_the_same_patient_and_say_how_sure_they_are():
    X, gappy, hidden, lengths = sequences(0, 0.8)
    model = HiddenMarkov(2, random_state=0).fit(gappy, lengths=lengths)
    np.testing.assert_allclose(model.lasting_, 0.8, atol=0.05)
    assert model.fading_.min() > 0.97
    fill, spread = model.impute(gappy, lengths, return_std=True)
    away = (X - fill)[hidden]
    assert away.std() == pytest.approx(np.sqrt(0.2), rel=0.12)  # without leaning it is one
    assert np.mean(np.abs(away) < 1.96 * spread[hidden]) == pytest.approx(0.95, abs=0.02)
    drawn = np.array([one[hidden] for one in model.impute(gappy, lengths, draws=30)])
    assert np.abs(drawn.mean(axis=0) - fill[hidden]).mean() < 0.15
    assert drawn.std(axis=0).mean() == pytest.approx(spread[hidden].mean(), rel=0.05)
    np.testing.assert_array_equal(fill[~hidden], X[~hidden])


def test_nothing_leans_where_nothing_lasts():
    _, gappy, _, lengths = sequences(1, 0.0)
    model = HiddenMarkov(2, random_state=0).fit(gappy, lengths=lengths)
    np.testing.assert_array_equal(model.lasting_, 0.0)


def test_a_wild_value_is_not_carried_along():
    _, gappy, _, lengths = sequences(2, 0.8)
    model = HiddenMarkov(2, random_state=0).fit(gappy, lengths=lengths)
    one = gappy[:20].copy()
    one[10, 1], one[11, 1] = 9.0, np.nan
    wild = one.copy()
    wild[10, 1] = 900.0
    usual = one.copy()
    usual[10, 1] = np.nan
    there = model.impute(wild, [20])[11, 1]
    assert there == pytest.approx(model.impute(usual, [20])[11, 1], abs=0.3)
