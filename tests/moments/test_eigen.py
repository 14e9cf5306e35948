"""Leading eigenpairs by products alone, against those of the dense matrix."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.moments.whitening import DEEPEST, SPARE, carried, leading_eigenpairs


@dataclass
class Multiplies:
    """A matrix that does nothing but multiply, and counts the vectors."""

    array: np.ndarray
    widths: list = field(default_factory=list)

    @property
    def shape(self):
        return self.array.shape

    def __matmul__(self, vectors):
        self.widths.append(vectors.shape[1])
        return self.array @ vectors


def with_spectrum(values, seed=0):
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))
    return (q * np.asarray(values, float)) @ q.T


def signal_and_noise(d, signal, noise, seed=0):
    """Eigenvalues that stand out from many small ones of both signs, as those of topics do."""
    spread = np.linspace(-noise, noise, d - len(signal))
    return with_spectrum(np.concatenate([signal, spread]), seed)


def check(matrix, rank, scale=None, atol=1e-9):
    """Values, residuals, orthonormality and the space itself."""
    scale = np.ones(len(matrix)) if scale is None else scale
    dense = scale[:, None] * matrix * scale
    values, vectors = leading_eigenpairs(Multiplies(matrix), scale, rank)
    r = min(rank, len(matrix))
    expected, basis = np.linalg.eigh(dense)
    size = max(np.abs(expected).max(), 1e-300)
    np.testing.assert_allclose(values[:r], expected[::-1][:r], atol=atol * size)
    assert (np.diff(values) <= 0).all()
    assert vectors.shape == (len(matrix), len(values))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-10)
    residual = dense @ vectors[:, :r] - vectors[:, :r] * values[:r]
    assert np.linalg.norm(residual, axis=0).max() <= 2e-6 * size
    return values, vectors, expected[::-1], basis[:, ::-1]


@pytest.mark.parametrize("seed", range(5))
def test_a_signal_above_indefinite_noise(seed):
    matrix = signal_and_noise(120, [9.0, 7.0, 4.0, 2.0], 0.5, seed)
    _, vectors, _, basis = check(matrix, 4)
    across = basis[:, 4:].T @ vectors[:, :4]  # what is outside the true space
    assert np.abs(across).max() < 1e-5


def test_rows_and_columns_are_scaled():
    scale = np.random.default_rng(1).uniform(0.1, 3.0, 90)
    check(signal_and_noise(90, [9.0, 7.0, 4.0], 0.3), 3, scale)


def test_the_largest_are_wanted_not_the_farthest_from_zero():
    matrix = signal_and_noise(80, [3.0, 2.0, -50.0, -40.0], 0.5)
    values, *_ = check(matrix, 2)
    np.testing.assert_allclose(values[:2], [3.0, 2.0], atol=1e-8)


def test_a_matrix_of_negative_eigenvalues_only():
    values = -np.concatenate([[1.0, 2.0], np.linspace(10, 11, 58)])
    found, *_ = check(with_spectrum(values), 2)
    np.testing.assert_allclose(found[:2], [-1.0, -2.0], atol=1e-9)


@pytest.mark.parametrize("rank", [1, 5, 9, 30])
def test_a_low_rank_whether_less_or_more_is_asked_for(rank):
    low = with_spectrum([5.0, 4.0, 3.0, 2.0, 1.0] + [0.0] * 55)
    values, *_ = check(low, rank)
    found = np.array([5.0, 4, 3, 2, 1])[:rank]
    np.testing.assert_allclose(values[: len(found)], found, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, SPARE - 1, SPARE + 2])
@pytest.mark.parametrize("rank", [1, 2, 50])
def test_matrices_smaller_than_a_block_are_solved_at_once(d, rank):
    array = np.random.default_rng(d).standard_normal((d, d))
    values, *_ = check(array + array.T, rank, atol=1e-12)
    assert len(values) == min(carried(rank), d)


@pytest.mark.parametrize("d", [SPARE + 3, 20, 40])
def test_any_symmetric_matrix_small_enough_to_be_spanned_is_solved_to_rounding(d):
    array = np.random.default_rng(d).standard_normal((d, d))
    check(array + array.T, 3, atol=1e-10)


@pytest.mark.parametrize("repeats", [2, 5, 10])
def test_repeated_eigenvalues_have_their_whole_space(repeats):
    matrix = with_spectrum([3.0] * repeats + [0.5] * 30 + [-0.5] * 30)
    _, vectors, _, basis = check(matrix, repeats)
    projector = vectors[:, :repeats] @ vectors[:, :repeats].T
    np.testing.assert_allclose(projector, basis[:, :repeats] @ basis[:, :repeats].T, atol=1e-6)


def test_the_identity_and_nothing_at_all():
    values, *_ = check(np.eye(50), 3)
    np.testing.assert_allclose(values, 1.0, rtol=1e-12)
    values, vectors, *_ = check(np.zeros((50, 50)), 3)
    np.testing.assert_array_equal(values, 0.0)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("size", [1e-12, 1e12])
def test_the_unit_of_the_matrix_does_not_matter(size):
    matrix = signal_and_noise(100, [9.0, 7.0, 4.0], 0.5)
    ones = np.ones(100)
    values, vectors = leading_eigenpairs(Multiplies(matrix), ones, 3)
    larger, same = leading_eigenpairs(Multiplies(size * matrix), ones, 3)
    np.testing.assert_allclose(larger[:3], size * values[:3], rtol=1e-10)
    np.testing.assert_allclose(np.abs((same * vectors).sum(axis=0))[:3], 1.0, atol=1e-10)


def test_the_same_matrix_gives_the_same_answer():
    matrix = signal_and_noise(100, [9.0, 7.0, 4.0], 0.5)
    once, again = (leading_eigenpairs(Multiplies(matrix), np.ones(100), 3) for _ in range(2))
    np.testing.assert_array_equal(once[0], again[0])
    np.testing.assert_array_equal(once[1], again[1])


def test_it_multiplies_a_few_vectors_at_a_time_and_stops_when_it_may():
    matrix = Multiplies(signal_and_noise(400, [50.0, 40.0, 30.0], 0.5))
    leading_eigenpairs(matrix, np.ones(400), 3)
    assert max(matrix.widths) == carried(3)
    assert len(matrix.widths) < DEEPEST / 2


def test_it_stops_at_a_depth_when_nothing_stands_out():
    matrix = Multiplies(with_spectrum(np.linspace(-1, 1, 600)))
    values, _ = leading_eigenpairs(matrix, np.ones(600), 2)
    assert len(matrix.widths) <= DEEPEST
    assert 0.99 < values[0] <= 1 + 1e-12  # never above the largest


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=40), st.integers(1, 6), st.integers(0, 99)
)
def test_any_spectrum_of_a_small_matrix(values, rank, seed):
    check(with_spectrum(values, seed), rank, atol=1e-9)
