"""What spherical mixtures do to their moments, by quadrature and by the formulas."""

import numpy as np
import pytest

BOTH = pytest.mark.parametrize("centred", [True, False], ids=["centred", "raw"])


def cubes(weights, vectors):
    return np.einsum("n,ni,nj,nk->ijk", weights, vectors, vectors, vectors)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_two_atoms_have_the_moments_of_a_normal_up_to_the_third(order):
    nodes, weights = np.polynomial.hermite_e.hermegauss(20)
    normal = weights @ (0.4 + 1.3 * nodes) ** order / weights.sum()
    atoms = np.mean([(0.4 - 1.3) ** order, (0.4 + 1.3) ** order])
    assert atoms == pytest.approx(normal, abs=1e-12)


@BOTH
@pytest.mark.parametrize(("k", "d"), [(1, 2), (2, 3), (4, 5)])
def test_written_out_moments_are_those_of_quadrature(draw_mixture, sample_moments, k, d, centred):
    mixture = draw_mixture(1, k, d)
    points, probabilities = mixture.atoms()
    moments, third = sample_moments(points, centred, probabilities)
    np.testing.assert_allclose(mixture.mean, moments.mean, atol=1e-12)
    np.testing.assert_allclose(mixture.second(centred), moments.second, atol=1e-12)
    np.testing.assert_allclose(mixture.third(centred), third, atol=1e-11)


@pytest.mark.parametrize(("k", "d"), [(1, 4), (2, 6), (4, 6), (6, 6), (7, 6)])
def test_a_covariance_has_d_minus_k_plus_one_eigenvalues_of_noise(draw_mixture, k, d):
    mixture = draw_mixture(2, k, d, tied=True)
    values = np.linalg.eigvalsh(mixture.second(centred=True))
    is_noise = np.isclose(values, 0.7, rtol=0, atol=1e-9)
    assert is_noise.sum() == d - k + 1
    assert is_noise[: d - k + 1].all()


def test_central_third_moments_do_not_see_any_covariance_that_components_share(
    draw_mixture, sample_moments
):
    mixture = draw_mixture(3, 4, 5)
    root = np.random.default_rng(3).standard_normal((5, 5))
    points, probabilities = mixture.atoms(root)
    _, third = sample_moments(points, True, probabilities)
    b = mixture.means - mixture.mean
    np.testing.assert_allclose(third, cubes(mixture.weights, b), atol=1e-10)


def test_raw_third_moments_do_see_a_shared_covariance(draw_mixture, sample_moments):
    mixture = draw_mixture(3, 4, 5, tied=True)
    points, probabilities = mixture.atoms()
    _, third = sample_moments(points, False, probabilities)
    difference = third - cubes(mixture.weights, mixture.means)
    np.testing.assert_allclose(
        np.einsum("iik->k", difference), 0.7 * (5 + 2) * mixture.mean, atol=1e-10
    )


def test_rescaled_features_need_their_own_variances_in_the_correction_of_the_third_moment(
    draw_mixture, sample_moments
):
    mixture = draw_mixture(4, 3, 5, tied=True)
    scale = np.random.default_rng(4).uniform(0.2, 3.0, 5)
    points, probabilities = mixture.atoms()
    moments, third = sample_moments(points * scale, False, probabilities)
    corrected = third.copy()
    for i in range(5):
        for j in range(5):
            for k in range(5):
                corrected[i, j, k] -= (
                    (i == j) * scale[i] ** 2 * 0.7 * moments.mean[k]
                    + (i == k) * scale[i] ** 2 * 0.7 * moments.mean[j]
                    + (j == k) * scale[j] ** 2 * 0.7 * moments.mean[i]
                )
    np.testing.assert_allclose(corrected, cubes(mixture.weights, mixture.means * scale), atol=1e-10)


@BOTH
def test_squares_along_null_directions_weigh_the_means_by_their_variances(
    draw_mixture, sample_moments, centred
):
    mixture = draw_mixture(5, 3, 6)
    points, probabilities = mixture.atoms()
    between = (mixture.weights * (mixture.means - mixture.mean).T) @ mixture.means
    null = np.linalg.svd(between)[0][:, 2:]
    away = points - centred * mixture.mean
    expected = (mixture.weights * mixture.variances) @ mixture.from_origin(centred)
    for v in null.T:
        squares = ((points - mixture.mean) @ v) ** 2
        np.testing.assert_allclose((probabilities * squares) @ away, expected, atol=1e-10)
