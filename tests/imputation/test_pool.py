"""Rubin's rules, against formulas written out by hand."""

import math

import numpy as np
import pytest
from scipy.stats import t

from halfseen import pool


def by_hand(estimates, variances, df, level):
    m = len(estimates)
    mean = sum(estimates) / m
    within = sum(variances) / m
    between = sum((one - mean) ** 2 for one in estimates) / (m - 1)
    total = within + (1 + 1 / m) * between
    share = (1 + 1 / m) * between / total
    freedom = (m - 1) / share**2
    if df is not None:
        observed = (df + 1) / (df + 3) * df * (1 - share)
        freedom = freedom * observed / (freedom + observed)
    ratio = (1 + 1 / m) * between / within
    lost = (ratio + 2 / (freedom + 3)) / (ratio + 1)
    reach = t.ppf(0.5 + level / 2, freedom) * math.sqrt(total)
    return mean, math.sqrt(total), mean - reach, mean + reach, freedom, lost


@pytest.mark.parametrize("df", [None, 30.0])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_pooling_is_rubins_rules(df, level):
    estimates, variances = [2.0, 2.5, 1.7, 2.2], [0.3, 0.2, 0.25, 0.4]
    found = pool(estimates, variances, df=df, level=level)
    parts = (found.estimate, found.std, found.low, found.high, found.df, found.missing_information)
    np.testing.assert_allclose(np.ravel(parts), by_hand(estimates, variances, df, level))


def test_several_estimates_are_pooled_each_by_itself():
    rng = np.random.default_rng(0)
    estimates, variances = rng.normal(size=(6, 3)), rng.uniform(0.5, 1, size=(6, 3))
    found = pool(estimates, variances, df=[20, 30, 40])
    for j, df in enumerate((20, 30, 40)):
        one = pool(estimates[:, j], variances[:, j], df=df)
        assert found.low[j] == pytest.approx(one.low[0])
        assert found.df[j] == pytest.approx(one.df[0])


def test_covariance_matrices_give_the_same_and_a_matrix():
    rng = np.random.default_rng(0)
    estimates, roots = rng.normal(size=(5, 2)), rng.normal(size=(5, 2, 2))
    matrices = roots @ roots.transpose(0, 2, 1)
    found = pool(estimates, matrices)
    alone = pool(estimates, matrices.diagonal(axis1=1, axis2=2))
    np.testing.assert_allclose(found.std, alone.std)
    away = estimates - estimates.mean(axis=0)
    total = matrices.mean(axis=0) + 1.2 * away.T @ away / 4
    np.testing.assert_allclose(found.covariance, total)
    np.testing.assert_allclose(found.covariance.diagonal(), found.std**2)


def test_tables_that_agree_leave_what_one_of_them_does():
    found = pool([3.0, 3.0, 3.0], [0.04, 0.04, 0.04], df=50)
    assert found.std[0] == pytest.approx(0.2)
    assert found.missing_information[0] == 0
    assert found.df[0] == pytest.approx(51 / 53 * 50)


@pytest.mark.parametrize("df", [None, 50])
def test_estimates_without_variances_of_their_own_are_as_unsure_as_the_draws(df):
    found = pool([1.0, 2.0], [0.0, 0.0], df=df)
    assert found.df[0] == 1
    assert found.std[0] == pytest.approx(math.sqrt(1.5 * 0.5))
    assert found.high[0] - found.estimate[0] == pytest.approx(t.ppf(0.975, 1) * found.std[0])
    assert found.missing_information[0] == 1


def test_estimates_that_agree_and_have_no_variance_are_certain():
    found = pool([2.0, 2.0], [0.0, 0.0], df=50)
    assert (found.low[0], found.high[0], found.missing_information[0]) == (2, 2, 0)


def test_it_prints_as_a_table():
    text = str(pool([1.0, 1.2, 0.8], [0.04, 0.05, 0.03], df=48))
    lines = text.splitlines()
    assert lines[0].split() == ["estimate", "std", "low", "high", "df", "lost"]
    assert lines[1].split()[:2] == ["1", "0.30551"]
    assert lines[-1] == "95% intervals from 3 completed tables."


@pytest.mark.parametrize(
    ("estimates", "variances", "level", "text"),
    [
        ([1.0], [1.0], 0.95, "for each of at least 2 completed tables"),
        ([1.0, 2.0], [1.0], 0.95, r"variances must have the shape \(2,\)"),
        ([[1.0, 2.0]] * 3, [1.0] * 3, 0.95, r"shape \(3, 2\) or \(3, 2, 2\)"),
        ([1.0, 2.0], [1.0, 1.0], 95, "level must be between 0 and 1. Got 95 instead"),
        ([1.0, np.nan], [1.0, 1.0], 0.95, "must be finite"),
    ],
)
def test_what_cannot_be_pooled_is_refused(estimates, variances, level, text):
    with pytest.raises(ValueError, match=text):
        pool(estimates, variances, level=level)
