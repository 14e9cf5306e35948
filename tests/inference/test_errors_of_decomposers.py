"""How far noise turns the vectors: to first order, and one decomposer against another."""

import numpy as np
import pytest

from halfseen.inference.tensor_decomposition import DECOMPOSERS, jennrich


def angles_of_joint(values, noise):
    """``θ_ij = (λ_i E_iij - λ_j E_ijj) / (λ_i² + λ_j²)``."""
    k = len(values)
    theta = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            pull = values[i] * noise[i, i, j] - values[j] * noise[i, j, j]
            theta[i, j] = (i != j) * pull / (values[i] ** 2 + values[j] ** 2)
    return theta


def angles_of_power(values, noise):
    """``θ_ij = E_iij / λ_i``."""
    theta = np.einsum("iij->ij", noise) / values[:, None]
    return theta - np.diag(np.diag(theta))


FIRST_ORDER = {"joint": angles_of_joint, "power": angles_of_power}


@pytest.mark.parametrize("name", FIRST_ORDER)
@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0, 1.0, 1.0], [0.6, 2.5, 1.1, 1.7, 0.9]])
@pytest.mark.parametrize("seed", [1, 2])
def test_small_noise_turns_each_vector_towards_the_others_by_the_first_order_angles(
    tensor_of, rotation, symmetric_noise, match, name, values, seed
):
    rng, values = np.random.default_rng(seed), np.array(values)
    vectors, noise = rotation(rng, 5), 1e-5 * symmetric_noise(rng, 5)
    tensor = tensor_of(np.eye(5), values) + noise
    turned = np.einsum("abc,ia,jb,kc->ijk", tensor, vectors, vectors, vectors)
    found = DECOMPOSERS[name](turned, rng).vectors
    found = vectors.T @ found[:, match(found, vectors)]
    expected = FIRST_ORDER[name](values, noise)
    np.testing.assert_allclose(found.T - np.eye(5), expected, rtol=1e-3, atol=1e-9)
    assert np.abs(expected).max() > 1e-7


@pytest.mark.parametrize("name", DECOMPOSERS)
def test_the_first_order_change_of_a_value_is_the_noise_along_its_vector(
    tensor_of, rotation, symmetric_noise, match, name
):
    rng = np.random.default_rng(3)
    vectors, values = rotation(rng, 4), np.array([0.7, 1.0, 1.6, 2.2])
    noise = 1e-6 * symmetric_noise(rng, 4)
    found = DECOMPOSERS[name](tensor_of(vectors, values) + noise, rng)
    change = found.values[match(found.vectors, vectors)] - values
    expected = np.einsum("abc,ak,bk,ck->k", noise, vectors, vectors, vectors)
    np.testing.assert_allclose(change, expected, atol=1e-10)


@pytest.fixture(scope="module")
def mean_angles(tensor_of, rotation, symmetric_noise, match):
    """Over twenty tensors of ten components, with a tenth of noise by norm; (20,) each."""
    angles = {name: [] for name in DECOMPOSERS}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        vectors = rotation(rng, 10)
        tensor = tensor_of(vectors, np.ones(10)) + 0.1 * np.sqrt(10) * symmetric_noise(rng, 10)
        for name, decompose in DECOMPOSERS.items():
            found = decompose(tensor, np.random.default_rng(seed)).vectors
            cosines = np.sum(vectors * found[:, match(found, vectors)], axis=0)
            angles[name].append(np.arccos(np.clip(np.abs(cosines), 0, 1)).mean())
    return {name: np.array(a) for name, a in angles.items()}


def test_joint_errs_less_than_power_on_every_noisy_tensor_by_about_root_two(mean_angles):
    assert (mean_angles["joint"] < mean_angles["power"]).all()
    ratio = mean_angles["joint"].mean() / mean_angles["power"].mean()
    assert ratio == pytest.approx(np.sqrt(0.5), abs=0.06)


def test_jennrich_errs_several_times_as_much_as_the_others(mean_angles):
    assert mean_angles["jennrich"].mean() > 4 * mean_angles["power"].mean()


def test_jennrich_errs_least_with_the_contraction_whose_eigenvalues_are_best_apart(
    tensor_of, rotation, symmetric_noise, match
):
    angles = {1: [], 20: []}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        vectors = rotation(rng, 5)
        tensor = tensor_of(vectors, np.ones(5)) + 0.1 * symmetric_noise(rng, 5)
        for n in angles:
            found = jennrich(tensor, np.random.default_rng(seed), n_contractions=n).vectors
            cosines = np.sum(vectors * found[:, match(found, vectors)], axis=0)
            angles[n].append(np.arccos(np.clip(np.abs(cosines), 0, 1)).mean())
    by_default = jennrich(tensor, np.random.default_rng(seed)).vectors
    np.testing.assert_array_equal(by_default, found)
    assert np.mean(angles[20]) < 0.5 * np.mean(angles[1])
