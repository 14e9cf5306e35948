"""Operations on small tensors, against einsum written out."""

import numpy as np
import pytest

from halfseen.data.products import products_of_pairs, upper_pairs
from halfseen.moments.symmetric_tensors import (
    cubes,
    in_three_places,
    matrix_and_vector,
    multilinear,
    pairs_with,
)

CLOSE = {"rtol": 1e-12, "atol": 1e-12}


@pytest.fixture
def generator():
    return np.random.default_rng(0)


@pytest.mark.parametrize(("d", "m"), [(4, 4), (5, 2), (2, 5), (1, 1), (3, 0)])
def test_multilinear_contracts_every_mode_with_the_basis(generator, d, m):
    tensor, basis = generator.normal(size=(d, d, d)), generator.normal(size=(d, m))  # not symmetric
    naive = np.einsum("ijk,ia,jb,kc->abc", tensor, basis, basis, basis)
    np.testing.assert_allclose(multilinear(tensor, basis), naive, **CLOSE)


def test_cubes_sum_scaled_outer_cubes_of_rows(generator):
    rows, scale = generator.normal(size=(6, 3)), generator.normal(size=6)
    naive = np.einsum("n,na,nb,nc->abc", scale, rows, rows, rows)
    np.testing.assert_allclose(cubes(rows, scale), naive, **CLOSE)


def test_the_single_takes_each_of_three_places(generator):
    r, s = generator.normal(size=(6, 3)), generator.normal(size=(6, 3))
    naive = sum(np.einsum(f"na,nb,nc->{to}", r, r, s) for to in ("abc", "acb", "cab"))
    np.testing.assert_allclose(in_three_places(r, s), naive, **CLOSE)


def test_the_vector_takes_each_of_three_places(generator):
    root, v = generator.normal(size=(3, 3)), generator.normal(size=3)
    m = root + root.T
    naive = np.zeros((3, 3, 3))
    for a, b, c in np.ndindex(3, 3, 3):
        naive[a, b, c] = m[a, b] * v[c] + m[a, c] * v[b] + m[b, c] * v[a]
    np.testing.assert_allclose(matrix_and_vector(m, v), naive, **CLOSE)


def test_sums_over_no_rows_are_zero():
    empty = np.empty((0, 3))
    np.testing.assert_array_equal(cubes(empty, np.empty(0)), np.zeros((3, 3, 3)))
    np.testing.assert_array_equal(in_three_places(empty, empty), np.zeros((3, 3, 3)))


@pytest.mark.parametrize("laid", [np.ascontiguousarray, np.asfortranarray])
@pytest.mark.parametrize(("n", "m"), [(6, 3), (1, 1), (0, 2), (5, 0)])
def test_products_of_pairs_are_those_of_each_row(generator, n, m, laid):
    left, right = laid(generator.normal(size=(n, m))), laid(generator.normal(size=(n, m)))
    rows = zip(left, right, strict=True)
    naive = [[x[i] * y[j] for i in range(m) for j in range(i, m)] for x, y in rows]
    found = products_of_pairs(left, right)
    np.testing.assert_array_equal(found, np.reshape(naive, (n, m * (m + 1) // 2)))
    i, j = upper_pairs(m)
    np.testing.assert_array_equal(found, left[:, i] * right[:, j])


def test_how_many_rows_are_taken_at_a_time_does_not_matter(generator, monkeypatch):
    pairs, singles = generator.normal(size=(50, 3)), generator.normal(size=(50, 3))
    naive = np.einsum("na,nb,nc->abc", pairs, pairs, singles)
    for products in (1, 6, 100, 10_000):
        monkeypatch.setattr("halfseen.moments.symmetric_tensors._PRODUCTS", products)
        np.testing.assert_allclose(pairs_with(pairs, singles), naive, **CLOSE)
