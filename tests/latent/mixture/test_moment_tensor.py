"""The two forms on their own: what they make of a third moment and of a decomposition."""

import numpy as np
import pytest

from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.latent.moment_tensor import FORMS

CENTRED, RAW = FORMS["centred"], FORMS["raw"]


def draw_third(r):
    rng = np.random.default_rng(r)
    vectors = rng.standard_normal((2 * r + 1, r))
    return np.einsum("na,nb,nc->abc", vectors, vectors, vectors)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_k_components_have_rank_k_about_zero_and_one_less_about_their_mean(k):
    assert CENTRED.centred
    assert not RAW.centred
    assert (CENTRED.rank(k), RAW.rank(k)) == (k - 1, k)


@pytest.mark.parametrize("r", [0, 1, 4])
def test_the_centred_tensor_is_the_third_moment_of_whitened_rows_with_a_one_before_them(r):
    rng = np.random.default_rng(r)
    rows = rng.standard_normal((200, r))
    rows = rows - rows.mean(axis=0)
    root = np.linalg.cholesky(np.linalg.inv(rows.T @ rows / 200)) if r else np.empty((0, 0))
    rows = rows @ root
    bordered = np.hstack([np.ones((200, 1)), rows])
    third = np.einsum("na,nb,nc->abc", rows, rows, rows) / 200
    expected = np.einsum("na,nb,nc->abc", bordered, bordered, bordered) / 200
    np.testing.assert_allclose(CENTRED.tensor(third), expected, atol=1e-12)


@pytest.mark.parametrize("r", [1, 4])
def test_the_raw_tensor_is_the_third_moment(r):
    np.testing.assert_array_equal(RAW.tensor(draw_third(r)), draw_third(r))


def test_centred_components_do_not_depend_on_the_signs_of_the_vectors():
    vectors = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    one = CENTRED.locate(Decomposition(vectors, np.ones(4), 0.0), 1e6)
    other = CENTRED.locate(Decomposition(vectors * [1, -1, -1, 1], np.ones(4), 0.0), 1e6)
    np.testing.assert_array_equal(one.weights, other.weights)
    np.testing.assert_array_equal(one.places, other.places)


def test_centred_weights_are_squares_of_the_first_row_and_places_their_ratios_to_it():
    vectors = np.linalg.qr(np.random.default_rng(2).standard_normal((4, 4)))[0]
    located = CENTRED.locate(Decomposition(vectors, np.ones(4), 0.0), 1e12)
    np.testing.assert_allclose(located.weights, vectors[0] ** 2, rtol=1e-12)
    for k in range(4):
        np.testing.assert_allclose(located.places[k], vectors[1:, k] / vectors[0, k], rtol=1e-12)


def test_centred_components_have_mean_zero_and_unit_covariance():
    vectors = np.linalg.qr(np.random.default_rng(3).standard_normal((5, 5)))[0]
    weights, places = CENTRED.locate(Decomposition(vectors, np.ones(5), 0.0), 1e12)
    np.testing.assert_allclose(weights @ places, np.zeros(4), atol=1e-12)
    np.testing.assert_allclose((places.T * weights) @ places, np.eye(4), atol=1e-12)


def test_no_centred_component_is_rarer_than_one_row():
    weights, places = CENTRED.locate(Decomposition(np.eye(3), np.ones(3), 0.0), 100.0)
    np.testing.assert_allclose(weights, np.array([1, 0.01, 0.01]) / 1.02, rtol=1e-12)
    np.testing.assert_allclose(places, [[0, 0], [10, 0], [0, 10]], atol=1e-12)


def test_raw_weights_are_inverse_squares_of_the_values_and_places_their_multiples():
    pi = np.array([0.2, 0.3, 0.5])
    vectors = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    located = RAW.locate(Decomposition(vectors, pi**-0.5, 0.0), 100.0)
    np.testing.assert_allclose(located.weights, pi, rtol=1e-12)
    for k in range(3):
        np.testing.assert_allclose(located.places[k], vectors[:, k] / np.sqrt(pi[k]), rtol=1e-12)


def test_raw_values_below_one_count_as_one_in_the_weights_and_weights_sum_to_one():
    located = RAW.locate(Decomposition(np.eye(3), np.array([0.5, 2.0, 0.0]), 0.0), 100.0)
    np.testing.assert_allclose(located.weights, np.array([1, 0.25, 1]) / 2.25, rtol=1e-12)
