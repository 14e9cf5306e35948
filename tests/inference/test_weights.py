"""Rules for feature weights, their limits, and the criterion that they answer."""

import numpy as np
import pytest
from scipy.optimize import minimize

from halfseen.moments.whitening import (
    WEIGHTINGS,
    Signal,
    equal,
    given,
    observed,
    signal_aware,
    square_root,
)

P = np.array([0.1, 0.25, 0.5, 0.9, 1.0])
S = np.array([2.0, 0.5, 3.0, 1.0, 0.2])
PSI = np.array([1.0, 4.0, 0.5, 2.0, 3.0])


def signal(variance: np.ndarray, noise: np.ndarray) -> Signal:
    """Off its diagonal the signal does not matter to weights."""
    d = len(variance)
    matrix = np.where(np.eye(d), variance, 9.0)
    return Signal(matrix=matrix, noise=noise, null=np.empty((d, 0)), unit=np.ones(d))


def scaled(weights: np.ndarray) -> np.ndarray:
    return weights / weights.max()


def test_simple_rules_are_powers_of_the_observed_fraction():
    any_signal = signal(S, PSI)
    np.testing.assert_array_equal(observed(P, any_signal), P)
    np.testing.assert_allclose(square_root(P, any_signal), P**0.5, rtol=1e-15)
    np.testing.assert_array_equal(equal(P, any_signal), np.ones(5))


def test_the_users_weights_are_left_alone():
    weights = np.array([3.0, 1.0, 2.0, 0.5, 9.0])
    np.testing.assert_array_equal(given(weights)(P, signal(S, PSI)), weights)


def test_every_rule_has_its_name():
    rules = {"observed": observed, "sqrt": square_root, "none": equal, "signal": signal_aware}
    assert rules == WEIGHTINGS


def test_signal_aware_weights_are_the_formula():
    naive = [(p / (psi + (1 - p) * s)) ** 0.5 for p, psi, s in zip(P, PSI, S, strict=True)]
    np.testing.assert_allclose(signal_aware(P, signal(S, PSI)), scaled(np.array(naive)), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_largest_signal_aware_weight_is_one_whatever_the_units(scale):
    weights = signal_aware(P, signal(S * scale, PSI * scale))
    assert weights.max() == 1.0
    np.testing.assert_allclose(weights, signal_aware(P, signal(S, PSI)), rtol=1e-12)


def test_rescaling_a_feature_rescales_its_signal_aware_weight_back():
    units = np.array([1.0, 10.0, 0.1, 5.0, 2.0])
    weights = signal_aware(P, signal(S * units**2, PSI * units**2)) * units
    np.testing.assert_allclose(scaled(weights), signal_aware(P, signal(S, PSI)), rtol=1e-12)


def test_in_complete_data_noise_alone_decides():
    weights = signal_aware(np.ones(5), signal(S, PSI))
    np.testing.assert_allclose(weights, scaled(PSI**-0.5), rtol=1e-12)


def test_strong_signal_gives_the_odds_of_being_observed():
    p = np.array([0.1, 0.25, 0.5, 0.9, 0.95])
    weights = signal_aware(p, signal(S, 1e-12 * PSI))
    np.testing.assert_allclose(weights, scaled(np.sqrt(p / (1 - p) / S)), rtol=1e-9)


def test_weak_signal_gives_the_root_of_observed_over_noise():
    weights = signal_aware(P, signal(1e-12 * S, PSI))
    # A twentieth of the variance is always taken as signal, hence no closer than 0.05 / 2.
    np.testing.assert_allclose(weights, scaled(np.sqrt(P / PSI)), rtol=0.025)


@pytest.mark.parametrize("variance", [0.0, -0.3])
def test_signal_lost_in_noise_is_taken_as_a_twentieth_of_the_variance(variance):
    s = np.full(5, variance)
    naive = np.sqrt(P / (PSI + (1 - P) * 0.05 * (s + PSI)))
    np.testing.assert_allclose(signal_aware(P, signal(s, PSI)), scaled(naive), rtol=1e-12)


def test_signal_aware_weights_equalise_the_harmful_noise_where_it_is_separable():
    """In complete data without signal, w_i w_j times the noise of S_ij is the same everywhere."""
    w = signal_aware(np.ones(5), signal(np.zeros(5), PSI))
    noise = np.sqrt(np.outer(PSI, PSI)) * np.outer(w, w)
    np.testing.assert_allclose(noise, noise[0, 0], rtol=1e-12)


def best_weights(gamma: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Minimise (Σ_ij γ_ij w_i² w_j² / (p_i p_j))^½ / (Σ_i w_i [Ac]_i)², the paper's criterion."""

    def criterion(log_w: np.ndarray) -> float:
        w = np.exp(log_w)
        error = 0.5 * np.log(np.sum(gamma * np.outer(w**2 / P, w**2 / P)))
        return float(error - 2 * np.log(w @ expected))

    def gradient(log_w: np.ndarray) -> np.ndarray:
        w = np.exp(log_w)
        u = w**2 / P
        return 2 * u * (gamma @ u) / (u @ gamma @ u) - 2 * w * expected / (w @ expected)

    start = np.zeros(len(P))
    found = minimize(criterion, start, jac=gradient, method="BFGS", options={"gtol": 1e-9})
    return scaled(np.exp(found.x))


def test_with_constant_noise_the_best_weight_is_observed_fraction_times_expectation():
    """The exponent of p is one, not the one half of the paper's lemma."""
    ac = np.array([1.0, 0.3, 2.0, 0.7, 1.5])
    best = best_weights(np.ones((5, 5)), ac)
    np.testing.assert_allclose(best, scaled(observed(P, signal(S, PSI)) * ac), rtol=1e-6)


def test_with_poisson_noise_the_observed_fraction_is_the_best_weight():
    ac = np.array([1.0, 0.3, 2.0, 0.7, 1.5])
    best = best_weights(np.outer(ac, ac), ac)
    np.testing.assert_allclose(best, scaled(observed(P, signal(S, PSI))), rtol=1e-6)
