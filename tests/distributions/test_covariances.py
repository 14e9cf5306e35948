"""The prior on covariances that differ: its centre, its M-step and its laws, by naive oracles."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.optimize import minimize

from halfseen.distributions.covariances import (
    CovariancePrior,
    between_own_variances,
    collapsed_covariances,
    collapsed_variances,
    common_covariance,
    common_variances,
    log_prior_of_correlations,
    log_prior_of_covariances,
    log_prior_of_shrinkage,
    log_prior_of_variances,
    shrunk_covariances,
    shrunk_variances,
)


def covariances(seed, k=3, d=3):
    root = np.random.default_rng(seed).normal(size=(k, d, d + 2))
    return root @ root.swapaxes(1, 2)


def divergence(covariance, centre):
    """The symmetric Kullback-Leibler divergence of two normals about one mean, times two."""
    inverse = np.linalg.inv
    both = inverse(covariance) @ centre + inverse(centre) @ covariance
    return np.trace(both) - 2 * len(centre)


def packed(root):
    return root @ root.T


@pytest.mark.parametrize("seed", range(3))
def test_the_centre_is_where_the_divergence_is_least(seed):
    some = covariances(seed)
    centre = common_covariance(some)
    found = sum(divergence(one, centre) for one in some)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            step = rng.normal(size=(3, 3)) * size
            other = centre + step + step.T
            if np.linalg.eigvalsh(other).min() > 0:
                assert sum(divergence(one, other) for one in some) >= found - 1e-9
    arithmetic, harmonic = some.mean(axis=0), np.linalg.inv(np.linalg.inv(some).mean(axis=0))
    np.testing.assert_allclose(
        centre, np.real(arithmetic @ sqrtm(np.linalg.inv(arithmetic) @ harmonic)), rtol=1e-8
    )
    assert log_prior_of_covariances(some, 2.0) == pytest.approx(-found)


@pytest.mark.parametrize("seed", range(3))
def test_the_m_step_is_where_the_penalised_likelihood_is_highest(seed):
    before, scatter, n, rows = (
        covariances(seed),
        5 * covariances(seed + 10),
        np.array([1, 7, 40.0]),
        3,
    )
    centre = common_covariance(before)
    found = shrunk_covariances(scatter, n, CovariancePrior.about(centre, rows))

    def lost(sigma, k):
        inverse = np.linalg.inv(sigma)
        likelihood = n[k] * np.linalg.slogdet(sigma)[1] + np.trace(inverse @ scatter[k])
        return likelihood + rows * divergence(sigma, centre)

    for k in range(3):
        start = np.linalg.cholesky(before[k]).ravel()
        best = minimize(lambda root, k=k: lost(packed(root.reshape(3, 3)), k), start, tol=1e-12)
        assert lost(found[k], k) <= best.fun + 1e-7
        np.testing.assert_allclose(packed(best.x.reshape(3, 3)), found[k], rtol=1e-3, atol=1e-3)


def test_variances_are_covariances_of_one_column():
    v, squares, n = (
        np.array([[0.5], [2.0], [9.0]]),
        np.array([[3.0], [0.0], [50.0]]),
        [4.0, 2.0, 9.0],
    )
    n = np.array(n)[:, None]
    pull = CovariancePrior.about(common_covariance(v[:, :, None]), 1.5)
    as_matrices = shrunk_covariances(squares[:, :, None], n[:, 0], pull)
    np.testing.assert_allclose(shrunk_variances(squares, n, v, 1.5), as_matrices[:, :, 0])
    np.testing.assert_allclose(common_variances(v), common_covariance(v[:, :, None])[0])
    of_matrices = log_prior_of_covariances(v[:, :, None], 1.5)
    assert log_prior_of_variances(v, 1.5) == pytest.approx(of_matrices)


def test_affine_maps_change_nothing():
    some, turn = covariances(0), np.random.default_rng(5).normal(size=(3, 3))
    other = turn @ some @ turn.T
    assert log_prior_of_covariances(other, 1.0) == pytest.approx(
        log_prior_of_covariances(some, 1.0)
    )
    ours, theirs = (
        shrunk_covariances(one, np.ones(3), CovariancePrior.about(common_covariance(one), 1.0))
        for one in (some, other)
    )
    np.testing.assert_allclose(theirs, turn @ ours @ turn.T)


def test_covariances_that_are_alike_have_no_prior():
    alike = np.repeat(covariances(1)[:1], 4, axis=0)
    assert log_prior_of_covariances(alike, 10.0) == pytest.approx(0.0, abs=1e-9)
    assert log_prior_of_variances(np.ones((4, 3)), 10.0) == 0.0


def test_the_prior_vanishes_as_rows_grow():
    before, sample = covariances(2), covariances(3)
    for n in (1e4, 1e8):
        pull = CovariancePrior.about(common_covariance(before), 3.0)
        found = shrunk_covariances(n * sample, np.full(3, n), pull)
        np.testing.assert_allclose(found, sample, rtol=1e3 / n)


@pytest.mark.parametrize("rows_of_it", [1.0, 5.0, 50.0])
def test_no_component_gains_by_shrinking_to_a_point(rows_of_it):
    def height(variance):
        both = np.array([[1.0], [variance]])
        return -rows_of_it / 2 * np.log(variance) + log_prior_of_variances(both, 1.0)

    heights = [height(10.0**-power) for power in (4, 8, 12, 16, 20)]
    assert np.all(np.diff(heights) < 0)


def test_a_point_is_told_from_a_narrow_component():
    assert collapsed_variances(np.array([[1.0, 1.0], [1e-9, 1.0]]))
    assert not collapsed_variances(np.array([[1.0, 1.0], [1e-3, 1.0]]))
    some = covariances(0)
    assert not collapsed_covariances(some)
    some[1] *= 1e-9
    assert collapsed_covariances(some)


def test_without_correlations_the_nearest_is_where_the_divergence_is_least():
    some = covariances(4, k=1)
    nearest = between_own_variances(some)[0]
    least = divergence(some[0], nearest)
    for d in range(3):
        for factor in (0.9, 1.1):
            other = nearest.copy()
            other[d, d] *= factor
            assert divergence(some[0], other) > least
    assert log_prior_of_correlations(some, 2.0) == pytest.approx(-least)
    assert log_prior_of_correlations(np.diag([1.0, 4.0])[None], 2.0) == pytest.approx(0.0)


def test_pulls_add():
    some, scatter, n = covariances(5), covariances(6), np.array([3.0, 5.0, 9.0])
    pull = CovariancePrior.about(common_covariance(some), 2.0).times(
        CovariancePrior.about(between_own_variances(some), 1.5)
    )
    found = shrunk_covariances(scatter, n, pull)
    left = found @ pull.against @ found + n[:, None, None] * found
    np.testing.assert_allclose(left, scatter + pull.towards)


def one_sided(covariance, centre):
    """The Kullback-Leibler divergence of a normal from one of the centre, times two."""
    ratio = np.linalg.solve(covariance, centre)
    return np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(centre)


@pytest.mark.parametrize("seed", range(3))
def test_shrinkage_is_the_least_divergence_in_one_direction(seed):
    some, rng = covariances(seed), np.random.default_rng(seed)
    centre = CovariancePrior.towards_harmonic_mean(some, 2.0).towards / 2.0
    least = sum(one_sided(one, centre) for one in some)
    assert log_prior_of_shrinkage(some, 2.0) == pytest.approx(-least)
    for _ in range(50):
        step = rng.normal(size=(3, 3)) * 1e-2
        assert sum(one_sided(one, centre + step @ step.T) for one in some) >= least - 1e-9
        assert sum(one_sided(one, centre - step @ step.T) for one in some) >= least - 1e-9


def test_the_m_step_with_shrinkage_is_a_weighted_mean():
    some, scatter, n = covariances(5), covariances(6), np.array([3.0, 5.0, 9.0])
    shrinkage = CovariancePrior.towards_harmonic_mean(some, 2.0)
    nearly_nothing = CovariancePrior.about(common_covariance(some), 1e-9)
    found = shrunk_covariances(scatter, n, shrinkage.times(nearly_nothing))
    expected = (scatter + shrinkage.towards) / (n + 2.0)[:, None, None]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_shrinkage_does_not_depend_on_affine_maps():
    some, turn = covariances(0), np.random.default_rng(0).normal(size=(3, 3))
    there = log_prior_of_shrinkage(turn @ some @ turn.T, 1.0)
    assert there == pytest.approx(log_prior_of_shrinkage(some, 1.0))
