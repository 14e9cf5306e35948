"""What every decomposer has to do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.inference.tensor_decomposition import DECOMPOSERS, Decomposition

EACH = pytest.mark.parametrize("decompose", DECOMPOSERS.values(), ids=DECOMPOSERS)
SEED = st.integers(0, 2**16)
SIZES = st.integers(1, 8)
LAW = settings(max_examples=20, deadline=None, derandomize=True)


def generator(seed=0):
    return np.random.default_rng(seed)


@EACH
@given(seed=SEED, k=SIZES)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_orthogonal_components_are_found_exactly(
    tensor_of, rotation, assert_decomposition, decompose, seed, k
):
    rng = generator(seed)
    vectors, values = rotation(rng, k), rng.uniform(0.5, 3.0, k)
    found = decompose(tensor_of(vectors, values), rng)
    assert_decomposition(found, vectors, values)
    assert found.off_diagonal < 1e-12


@EACH
@given(seed=SEED, k=SIZES)
@LAW
def test_components_of_equal_size_are_found_exactly(
    tensor_of, rotation, assert_decomposition, decompose, seed, k
):
    rng = generator(seed)
    vectors = rotation(rng, k)
    assert_decomposition(decompose(tensor_of(vectors, np.ones(k)), rng), vectors, np.ones(k))


@EACH
@pytest.mark.parametrize("k", [1, 2, 5])
def test_components_along_the_axes_are_found_exactly(tensor_of, assert_decomposition, decompose, k):
    values = np.linspace(2.0, 1.0, k)
    found = decompose(tensor_of(np.eye(k), values), generator())
    assert_decomposition(found, np.eye(k), values, 1e-12)


@EACH
def test_negative_values_turn_their_vectors(tensor_of, rotation, assert_decomposition, decompose):
    vectors, values = rotation(generator(1), 4), np.array([-2.0, 1.0, -0.5, 3.0])
    found = decompose(tensor_of(vectors, values), generator())
    assert_decomposition(found, vectors * np.sign(values), np.abs(values))


@EACH
def test_components_ten_thousand_times_smaller_than_the_largest_are_found_exactly(
    tensor_of, rotation, assert_decomposition, decompose
):
    vectors, values = rotation(generator(6), 5), np.array([100.0, 20.0, 1.0, 0.1, 0.01])
    found = decompose(tensor_of(vectors, values), generator())
    assert_decomposition(found, vectors, values)


@EACH
def test_components_of_no_size_leave_the_others_exact(tensor_of, rotation, match, decompose):
    vectors, values = rotation(generator(2), 4), np.array([2.0, 1.0, 0.0, 0.0])
    found = decompose(tensor_of(vectors, values), generator())
    order = match(found.vectors, vectors[:, :2])
    np.testing.assert_allclose(found.values[order], values[:2], atol=1e-9)
    np.testing.assert_allclose(found.vectors[:, order], vectors[:, :2], atol=1e-9)


@EACH
@pytest.mark.parametrize("k", [1, 3])
def test_a_tensor_of_zeros_has_unit_vectors_of_value_zero(decompose, k):
    found = decompose(np.zeros((k, k, k)), generator())
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=0), np.ones(k))
    np.testing.assert_array_equal(found.values, np.zeros(k))
    assert found.off_diagonal == 0


@EACH
@given(seed=SEED, k=SIZES)
@LAW
def test_any_tensor_has_unit_vectors_values_above_zero_and_a_fraction_off_the_diagonal(
    symmetric_noise, decompose, seed, k
):
    rng = generator(seed)
    found = decompose(symmetric_noise(rng, k), rng)
    assert found.vectors.shape == (k, k)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=0), np.ones(k), atol=1e-12)
    assert (found.values >= 0).all()
    assert 0 <= found.off_diagonal <= 1


@EACH
@given(seed=SEED, k=SIZES)
@LAW
def test_values_and_off_diagonal_are_read_off_along_the_vectors(
    symmetric_noise, decompose, seed, k
):
    rng = generator(seed)
    tensor = symmetric_noise(rng, k)
    found, total, diagonal = decompose(tensor, rng), 0.0, 0.0
    v = found.vectors.T
    for a in range(k):
        for b in range(k):
            for c in range(k):
                entry = np.sum(tensor * v[a][:, None, None] * v[b][:, None] * v[c])
                total += entry**2
                diagonal += entry**2 * (a == b == c)
        value = np.sum(tensor * v[a][:, None, None] * v[a][:, None] * v[a])
        assert found.values[a] == pytest.approx(value, abs=1e-12)
    assert found.off_diagonal == pytest.approx(1 - diagonal / total, abs=1e-10)


@EACH
@given(seed=SEED, k=st.integers(2, 6))
@LAW
def test_rotating_the_tensor_rotates_the_vectors(
    tensor_of, rotation, assert_decomposition, decompose, seed, k
):
    rng = generator(seed)
    tensor = tensor_of(rotation(rng, k), rng.uniform(0.5, 3.0, k))
    turn = rotation(rng, k)
    turned = np.einsum("abc,ai,bj,ck->ijk", tensor, turn, turn, turn)
    here, there = decompose(tensor, generator()), decompose(turned, generator())
    assert_decomposition(there, turn.T @ here.vectors, here.values)


@pytest.mark.parametrize("name", ["joint", "power"])
@given(seed=SEED, k=st.integers(2, 6))
@LAW
def test_rotating_or_reordering_a_noisy_tensor_does_the_same_to_the_vectors(
    tensor_of, rotation, symmetric_noise, assert_decomposition, name, seed, k
):
    rng, decompose = generator(seed), DECOMPOSERS[name]
    tensor = tensor_of(rotation(rng, k), 1.0 + np.arange(k) / k) + 0.02 * symmetric_noise(rng, k)
    here = decompose(tensor, generator())
    for turn in (rotation(rng, k), np.eye(k)[rng.permutation(k)]):
        turned = np.einsum("abc,ai,bj,ck->ijk", tensor, turn, turn, turn)
        there = decompose(turned, generator())
        assert_decomposition(there, turn.T @ here.vectors, here.values)


@EACH
@given(seed=SEED, exponent=st.floats(-12, 12))
@LAW
def test_scaling_the_tensor_scales_the_values_alone(
    tensor_of, rotation, assert_decomposition, decompose, seed, exponent
):
    rng, scale = generator(seed), 10.0**exponent
    vectors, values = rotation(rng, 4), rng.uniform(0.5, 3.0, 4)
    found = decompose(tensor_of(vectors, scale * values), rng)
    rescaled = Decomposition(found.vectors, found.values / scale, found.off_diagonal)
    assert_decomposition(rescaled, vectors, values)


@EACH
def test_the_same_generator_gives_the_same_answer_to_the_last_digit(symmetric_noise, decompose):
    tensor = symmetric_noise(generator(3), 5)
    one, other = decompose(tensor, generator(4)), decompose(tensor, generator(4))
    np.testing.assert_array_equal(one.vectors, other.vectors)
    np.testing.assert_array_equal(one.values, other.values)
    assert one.off_diagonal == other.off_diagonal


@EACH
def test_the_tensor_is_left_as_it_was(symmetric_noise, decompose):
    tensor = symmetric_noise(generator(5), 4)
    before = tensor.copy()
    decompose(tensor, generator())
    np.testing.assert_array_equal(tensor, before)
