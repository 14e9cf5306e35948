"""What joint diagonalisation does that the others need not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag, hadamard
from scipy.optimize import minimize_scalar

from halfseen.inference.tensor_decomposition import joint

HALF = np.sqrt(0.5)
TURN = np.array([[HALF, -HALF], [HALF, HALF]])
MIRROR = np.eye(5) - 2 / 5 * np.ones((5, 5))


def off_slices(tensor, vectors):
    """The squares off the diagonals of all slices, rotated."""
    slices = np.einsum("abp,ai,bj->ijp", tensor, vectors, vectors)
    return np.sum(slices**2) - np.sum(np.einsum("iip->ip", slices) ** 2)


@pytest.mark.parametrize("values", [[1.0, 1.0], [2.0, 1.0], [0.5, 3.0]])
def test_the_worst_start_of_two_components_at_half_a_right_angle_is_left(
    tensor_of, assert_decomposition, values
):
    tensor = tensor_of(TURN, np.array(values))
    difference, cross = tensor[0, 0] - tensor[1, 1], 2 * tensor[0, 1]
    assert difference @ difference < cross @ cross
    assert abs(difference @ cross) < 1e-15 * np.sum(tensor**2)
    assert_decomposition(joint(tensor, np.random.default_rng(0)), TURN, values, 1e-12)


@pytest.mark.parametrize(
    "vectors",
    [block_diag(TURN, TURN), hadamard(4) / 2, hadamard(8) / np.sqrt(8), MIRROR],
    ids=["two pairs", "hadamard 4", "hadamard 8", "mirror"],
)
@pytest.mark.parametrize("equal", [True, False])
def test_worst_starts_of_many_components_are_left(tensor_of, assert_decomposition, vectors, equal):
    values = np.ones(len(vectors)) if equal else 1.0 + np.arange(len(vectors))
    found = joint(tensor_of(vectors, values), np.random.default_rng(0))
    assert_decomposition(found, vectors, values)


@given(seed=st.integers(0, 2**16), k=st.integers(1, 7))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_vectors_of_any_tensor_are_orthonormal(symmetric_noise, seed, k):
    rng = np.random.default_rng(seed)
    vectors = joint(symmetric_noise(rng, k), rng).vectors
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-12)


@given(seed=st.integers(0, 2**16), k=st.integers(2, 5))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_no_rotation_of_two_vectors_brings_the_slices_of_any_tensor_closer_to_diagonal(
    symmetric_noise, seed, k
):
    rng = np.random.default_rng(seed)
    tensor = symmetric_noise(rng, k)
    vectors = joint(tensor, rng).vectors
    best = off_slices(tensor, vectors)
    for i in range(k):
        for j in range(i):
            for angle in np.linspace(-np.pi / 4, np.pi / 4, 31):
                turn = np.eye(k)
                turn[[i, i, j, j], [i, j, i, j]] = [
                    np.cos(angle),
                    -np.sin(angle),
                    np.sin(angle),
                    np.cos(angle),
                ]
                assert off_slices(tensor, vectors @ turn) >= best - 1e-9


@given(seed=st.integers(0, 2**16))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_two_vectors_are_those_of_a_search_over_all_angles(symmetric_noise, seed):
    rng = np.random.default_rng(seed)
    tensor = symmetric_noise(rng, 2)

    def off(angle):
        cos, sin = np.cos(angle), np.sin(angle)
        return off_slices(tensor, np.array([[cos, -sin], [sin, cos]]))

    grid = np.linspace(0, np.pi / 2, 200)
    start = grid[np.argmin([off(angle) for angle in grid])]
    least = minimize_scalar(off, bounds=(start - 0.01, start + 0.01), method="bounded").fun
    assert off_slices(tensor, joint(tensor, rng).vectors) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("k", [3, 8, 12])
def test_a_tensor_that_is_symmetric_in_its_axes_is_not_mistaken_for_solved(k):
    vectors = np.eye(k) - 2 / k
    found = joint(np.einsum("ak,bk,ck->abc", vectors, vectors, vectors), np.random.default_rng(0))
    assert found.off_diagonal < 1e-12
