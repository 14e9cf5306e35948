"""The noise level: which eigenvalues, of which features, and what is said when there are few."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.data.errors import DataError, WeakMomentsWarning
from halfseen.models.gaussian_mixture.cumulants import (
    NOISE_EIGENVALUES,
    exact_rank,
    noise_floor,
    paper_rank,
)

EACH_RULE = pytest.mark.parametrize("rule", NOISE_EIGENVALUES)
ALL = np.ones(6, bool)


def draw_covariance(seed, d=6):
    rows = np.random.default_rng(seed).standard_normal((3 * d, d))
    return rows.T @ np.diag(np.linspace(0.1, 2.0, 3 * d)) @ rows


@pytest.mark.parametrize(("d", "k"), [(6, 1), (6, 4), (5, 5)])
def test_the_two_rules_count_what_their_names_say(d, k):
    assert NOISE_EIGENVALUES["D-K+1"](d, k) == d - k + 1
    assert NOISE_EIGENVALUES["D-K"](d, k) == d - k


@EACH_RULE
@given(seed=st.integers(0, 2**16), k=st.integers(1, 4))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_noise_is_the_mean_of_the_smallest_eigenvalues_of_the_complete_covariance(rule, seed, k):
    covariance, n_noise = draw_covariance(seed), NOISE_EIGENVALUES[rule]
    complete = np.array([True, True, False, True, True, True])
    block = np.delete(np.delete(covariance, 2, axis=0), 2, axis=1)
    expected = np.sort(np.linalg.eigvals(block).real)[: n_noise(5, k)].mean()
    variance = noise_floor(covariance, np.ones(6), complete, n_noise, k).variance
    assert variance == pytest.approx(expected, rel=1e-9)


@EACH_RULE
def test_null_directions_are_eigenvectors_among_complete_features_and_zero_elsewhere(rule):
    covariance, n_noise = draw_covariance(2), NOISE_EIGENVALUES[rule]
    complete = np.array([True, False, True, True, True, False])
    null = noise_floor(covariance, np.ones(6), complete, n_noise, 2).null
    _, vectors = np.linalg.eigh(covariance[complete][:, complete])
    n = n_noise(4, 2)
    assert null.shape == (6, n)
    np.testing.assert_allclose(null.T @ null, np.eye(n), atol=1e-12)
    np.testing.assert_array_equal(null[~complete], 0.0)
    inside = null[complete] @ null[complete].T
    np.testing.assert_allclose(inside, vectors[:, :n] @ vectors[:, :n].T, atol=1e-10)


@EACH_RULE
def test_exact_moments_give_the_exact_noise_and_directions_in_which_no_mean_varies(
    draw_mixture, rule
):
    true, n_noise = draw_mixture(3, 4, 8), NOISE_EIGENVALUES[rule]
    complete = np.array([True, False, True, True, True, True, False, True])
    floor = noise_floor(true.second(centred=True), np.ones(8), complete, n_noise, 4)
    assert floor.variance == pytest.approx(true.weights @ true.variances, rel=1e-10)
    np.testing.assert_allclose((true.means - true.mean) @ floor.null, 0.0, atol=1e-9)


def test_moments_of_incomplete_features_do_not_matter():
    covariance, complete = draw_covariance(4), np.array([True, True, True, True, True, False])
    spoilt = covariance.copy()
    spoilt[5], spoilt[:, 5] = -1e6, -1e6
    one = noise_floor(covariance, np.ones(6), complete, exact_rank, 3)
    other = noise_floor(spoilt, np.ones(6), complete, exact_rank, 3)
    assert one.variance == other.variance
    np.testing.assert_array_equal(one.null, other.null)


@EACH_RULE
def test_copies_of_a_feature_leave_a_millionth_of_the_mean_variance(rule):
    covariance = np.kron(draw_covariance(5, d=2), np.ones((3, 3)))
    floor = noise_floor(covariance, np.ones(6), ALL, NOISE_EIGENVALUES[rule], 3)
    assert floor.variance == pytest.approx(1e-6 * np.trace(covariance) / 6, rel=1e-9)


def test_just_enough_complete_features_are_used_without_a_warning_however_rare_the_others():
    fraction, complete = np.array([1, 1, 1, 0.9, 0.9, 0.9]), np.array([1, 1, 1, 0, 0, 0], bool)
    floor = noise_floor(draw_covariance(6), fraction, complete, exact_rank, 3)
    assert floor.null.shape == (6, 1)
    np.testing.assert_array_equal(floor.null[3:], 0.0)


@pytest.mark.parametrize(("rule", "needed", "kept"), [("D-K+1", 3, 4), ("D-K", 4, 5)])
def test_too_few_complete_features_are_joined_by_those_observed_half_as_often_as_needed(
    rule, needed, kept
):
    covariance, n_noise = draw_covariance(7), NOISE_EIGENVALUES[rule]
    # The third best is observed in 0.8 of the rows and the fourth in 0.4.
    fraction = np.array([0.4, 0.9, 0.21, 1.0, 0.05, 0.8])
    used = np.array([1, 1, rule == "D-K", 1, 0, 1], bool)
    message = (
        f"Only 1 features are complete, fewer than the {needed} from which to tell "
        f"3 components from noise; the {kept} best observed are used instead. "
        "Lower complete_above to choose them, or use fewer components."
    )
    with pytest.warns(WeakMomentsWarning, match=f"^{re.escape(message)}$"):
        floor = noise_floor(covariance, fraction, fraction == 1, n_noise, 3)
    values = np.linalg.eigvalsh(covariance[used][:, used])
    assert floor.variance == pytest.approx(values[: n_noise(kept, 3)].mean(), rel=1e-9)
    np.testing.assert_array_equal(floor.null[~used], 0.0)


@pytest.mark.parametrize(("rule", "k", "needed"), [("D-K+1", 7, 7), ("D-K", 6, 7)])
def test_too_few_features_are_an_error_that_says_how_many_are_needed(rule, k, needed):
    message = (
        f"n_components={k} needs at least {needed} features to tell components from noise, "
        "but only 6 can be used (n_features=6). "
        "Use fewer components, or add features that are observed in most rows."
    )
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        noise_floor(draw_covariance(8), np.ones(6), ALL, NOISE_EIGENVALUES[rule], k)


def test_as_many_components_as_features_are_not_an_error():
    covariance = draw_covariance(8)
    floor = noise_floor(covariance, np.ones(6), ALL, exact_rank, 6)
    assert floor.variance == pytest.approx(np.linalg.eigvalsh(covariance)[0], rel=1e-9)


def test_d_minus_k_plus_one_eigenvalues_are_less_biased_and_closer_than_fewer():
    rng, sigma2, k = np.random.default_rng(9), 100.0, 4
    rules = {"smallest": lambda d, k: 1, "D-K": paper_rank, "D-K+1": exact_rank}
    errors = {name: [] for name in rules}
    for _ in range(300):
        means = 10 * rng.standard_normal((k, 6))
        rows = means[rng.integers(k, size=2000)] + 10 * rng.standard_normal((2000, 6))
        for name, rule in rules.items():
            floor = noise_floor(np.cov(rows.T), np.ones(6), ALL, rule, k)
            errors[name].append(floor.variance - sigma2)
    rmse = {name: np.sqrt(np.mean(np.square(e))) for name, e in errors.items()}
    bias = {name: np.mean(e) for name, e in errors.items()}
    assert rmse["D-K+1"] < 0.75 * rmse["D-K"] < 0.75 * rmse["smallest"]
    assert bias["smallest"] < bias["D-K"] < bias["D-K+1"] < 0
