"""Tensors with a known decomposition."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment


def tensor_of(vectors, values):
    """``Σ_k λ_k v_k ⊗ v_k ⊗ v_k`` with the v_k in columns."""
    return np.einsum("k,ak,bk,ck->abc", values, vectors, vectors, vectors)


def rotation(rng, k):
    return np.linalg.qr(rng.standard_normal((k, k)))[0]


def symmetric_noise(rng, k):
    """A random symmetric tensor of Frobenius norm one."""
    t = rng.standard_normal((k, k, k))
    t = sum(
        t.transpose(p) for p in [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    )
    return t / np.linalg.norm(t)


def match(found, true):
    """The columns of ``found`` in the order of those of ``true`` that they are closest to."""
    return linear_sum_assignment(-np.abs(true.T @ found))[1]


@pytest.fixture(scope="session", name="tensor_of")
def tensor_of_fixture() -> Callable[..., np.ndarray]:
    return tensor_of


@pytest.fixture(scope="session", name="rotation")
def rotation_fixture() -> Callable[..., np.ndarray]:
    return rotation


@pytest.fixture(scope="session", name="symmetric_noise")
def symmetric_noise_fixture() -> Callable[..., np.ndarray]:
    return symmetric_noise


@pytest.fixture(scope="session", name="match")
def match_fixture() -> Callable[..., np.ndarray]:
    return match


@pytest.fixture(scope="session")
def assert_decomposition() -> Callable[..., None]:
    def check(found, vectors, values, tolerance=1e-9):
        order = match(found.vectors, vectors)
        np.testing.assert_allclose(found.values[order], values, rtol=0, atol=tolerance)
        np.testing.assert_allclose(found.vectors[:, order], vectors, rtol=0, atol=tolerance)

    return check
