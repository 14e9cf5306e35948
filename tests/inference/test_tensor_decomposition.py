"""What is read off a tensor along given vectors."""

import numpy as np
import pytest

from halfseen.inference.tensor_decomposition import Decomposition


def orthonormal(k: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(k, k)))[0]


def tensor_of(values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return np.einsum("k,ak,bk,ck->abc", values, vectors, vectors, vectors)


VALUES = np.array([3.0, 1.0, 0.5, 2.0])


@pytest.mark.parametrize("signs", [[1, 1, 1, 1], [-1, 1, -1, 1], [-1, -1, -1, -1]])
def test_vectors_are_turned_so_that_values_are_not_negative(signs):
    vectors = orthonormal(4)
    read = Decomposition.along(tensor_of(VALUES, vectors), vectors * np.array(signs))
    np.testing.assert_allclose(read.values, VALUES, rtol=1e-12)
    np.testing.assert_allclose(read.vectors, vectors, atol=1e-15)


def test_nothing_is_off_the_diagonal_of_an_exact_decomposition():
    vectors = orthonormal(4)
    read = Decomposition.along(tensor_of(VALUES, vectors), vectors)
    assert read.off_diagonal < 1e-14
    np.testing.assert_allclose(tensor_of(read.values, read.vectors), tensor_of(VALUES, vectors))


def test_off_diagonal_is_the_fraction_of_the_square_that_is_not_explained():
    vectors, tensor = orthonormal(4), np.random.default_rng(1).normal(size=(4, 4, 4))
    read = Decomposition.along(tensor, vectors)
    rest = tensor - tensor_of(read.values, read.vectors)
    np.testing.assert_allclose(read.off_diagonal, (rest**2).sum() / (tensor**2).sum(), rtol=1e-12)


def test_a_known_off_diagonal_part():
    tensor = tensor_of(np.array([1.0, 2.0]), np.eye(2))
    tensor[0, 0, 1] = tensor[0, 1, 0] = tensor[1, 0, 0] = 1.0
    read = Decomposition.along(tensor, np.eye(2))
    np.testing.assert_allclose(read.off_diagonal, 3 / 8, rtol=1e-14)


def test_a_tensor_of_zeros_has_nothing_off_its_diagonal():
    read = Decomposition.along(np.zeros((3, 3, 3)), orthonormal(3))
    assert read.off_diagonal == 0
    np.testing.assert_array_equal(read.values, np.zeros(3))
    np.testing.assert_array_equal(read.vectors, orthonormal(3))
