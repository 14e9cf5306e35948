"""The whitening and its way back."""

import numpy as np
import pytest

from halfseen.moments.whitening import whiten

D = 6


def signal_of_rank(rank: int, seed: int = 0) -> np.ndarray:
    root = np.random.default_rng(seed).normal(size=(D, rank))
    return root @ root.T


def with_spectrum(values: list[float]) -> np.ndarray:
    d = len(values)
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(d, d)))
    return turn @ np.diag(values) @ turn.T


WEIGHTS = {"equal": np.ones(D), "unequal": np.linspace(0.05, 1.0, D)}
any_weights = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


@any_weights
@pytest.mark.parametrize("rank", [1, 3, D])
def test_the_whitened_signal_is_the_identity(weights, rank):
    signal = signal_of_rank(rank)
    whitening = whiten(signal, weights, rank)
    whitened = whitening.forward.T @ signal @ whitening.forward
    np.testing.assert_allclose(whitened, np.eye(rank), atol=1e-10)


@any_weights
@pytest.mark.parametrize("rank", [1, 3, D])
def test_the_way_back_gives_a_signal_of_that_rank_again(weights, rank):
    signal = signal_of_rank(rank)
    back = whiten(signal, weights, rank).back
    np.testing.assert_allclose(back @ back.T, signal, rtol=1e-9, atol=1e-10)


@any_weights
def test_forward_undoes_back(weights):
    whitening = whiten(signal_of_rank(5), weights, 3)
    np.testing.assert_allclose(whitening.forward.T @ whitening.back, np.eye(3), atol=1e-12)


@any_weights
def test_components_become_orthonormal(weights):
    components = np.random.default_rng(0).normal(size=(D, 3))
    whitening = whiten(components @ components.T, weights, 3)
    turned = whitening.forward.T @ components
    np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(turned.T @ turned, np.eye(3), atol=1e-10)


def test_the_best_directions_are_those_of_the_weighted_signal():
    signal, w = signal_of_rank(D), WEIGHTS["unequal"]
    kept = w[:, None] * whiten(signal, w, 2).back
    values, vectors = np.linalg.eigh(np.diag(w) @ signal @ np.diag(w))
    best = vectors[:, -2:] @ np.diag(values[-2:]) @ vectors[:, -2:].T
    np.testing.assert_allclose(kept @ kept.T, best, rtol=1e-9, atol=1e-10)


@any_weights
def test_the_largest_entry_of_every_direction_is_positive(weights):
    directions = weights[:, None] * whiten(signal_of_rank(D), weights, 4).back
    assert (directions.max(axis=0) == np.abs(directions).max(axis=0)).all()


@any_weights
def test_the_spectrum_is_that_of_the_weighted_signal_largest_first(weights):
    signal = signal_of_rank(4) - 0.5 * np.eye(D)
    naive = sorted(np.linalg.eigvals(np.diag(weights) @ signal @ np.diag(weights)).real)[::-1]
    spectrum = whiten(signal, weights, 2).spectrum
    np.testing.assert_allclose(spectrum, naive, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("values", "rank", "supported"),
    [([3.0, 2.0, 1.0], 2, 2), ([3.0, 2.0, -1.0], 3, 2), ([-1.0, -2.0, -3.0], 2, 0)],
)
def test_supported_are_the_kept_eigenvalues_above_zero(values, rank, supported):
    whitening = whiten(with_spectrum(values), np.ones(3), rank)
    assert (whitening.rank, whitening.n_supported) == (rank, supported)


def test_a_negative_eigenvalue_is_given_its_size():
    signal = with_spectrum([4.0, 1.0, -0.25])
    whitening = whiten(signal, np.ones(3), 3)
    whitened = whitening.forward.T @ signal @ whitening.forward
    np.testing.assert_allclose(whitened, np.diag([1.0, 1.0, -1.0]), atol=1e-12)
    size = whitening.back @ whitening.back.T
    np.testing.assert_allclose(size, with_spectrum([4.0, 1.0, 0.25]), atol=1e-12)


@pytest.mark.parametrize("values", [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, -1.0]])
def test_eigenvalues_of_zero_leave_everything_finite(values):
    whitening = whiten(np.diag(values), np.ones(3), 3)
    assert np.isfinite(whitening.forward).all()
    assert np.isfinite(whitening.back).all()


def test_nothing_may_be_kept():
    whitening = whiten(signal_of_rank(2), np.ones(D), 0)
    assert (whitening.rank, whitening.n_supported) == (0, 0)
    assert whitening.forward.shape == whitening.back.shape == (D, 0)
    assert whitening.spectrum.shape == (D,)
