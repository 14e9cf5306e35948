"""What the power method does that the others need not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.inference.tensor_decomposition import power


def test_components_are_found_largest_first(tensor_of, rotation):
    rng = np.random.default_rng(1)
    found = power(tensor_of(rotation(rng, 5), np.array([1.1, 3.0, 0.5, 2.0, 1.6])), rng)
    np.testing.assert_allclose(found.values, [3.0, 2.0, 1.6, 1.1, 0.5], atol=1e-9)


@given(seed=st.integers(0, 2**16), k=st.integers(2, 6))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_the_first_vector_of_a_noisy_tensor_is_one_that_the_iteration_leaves(
    tensor_of, rotation, symmetric_noise, seed, k
):
    rng = np.random.default_rng(seed)
    tensor = tensor_of(rotation(rng, k), np.ones(k)) + 0.5 * symmetric_noise(rng, k)
    found = power(tensor, rng)
    v = found.vectors[:, 0]
    moved = np.einsum("abc,b,c->a", tensor, v, v)
    np.testing.assert_allclose(moved, found.values[0] * v, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_vector_of_a_noisy_tensor_is_the_best_of_a_fine_search(
    tensor_of, rotation, symmetric_noise, seed
):
    rng = np.random.default_rng(seed)
    tensor = tensor_of(rotation(rng, 2), np.array([1.0, 1.2])) + 0.5 * symmetric_noise(rng, 2)
    angles = np.linspace(0, 2 * np.pi, 20_001)
    around = np.stack([np.cos(angles), np.sin(angles)])
    heights = np.einsum("abc,as,bs,cs->s", tensor, around, around, around, optimize=True)
    assert power(tensor, rng).values[0] == pytest.approx(heights.max(), abs=1e-6)


def test_a_tensor_with_fewer_components_than_dimensions_is_completed_at_right_angles():
    vectors = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    values = np.array([2.0, 1.0, 0.0, 0.0])
    tensor = np.einsum("k,ak,bk,ck->abc", values, vectors, vectors, vectors)
    found = power(tensor, np.random.default_rng(1))
    np.testing.assert_allclose(np.sort(found.values), [0, 0, 1, 2], atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-9)
