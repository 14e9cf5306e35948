"""Operations on small tensors, against einsum written out."""

import numpy as np
import pytest

from halfseen.moments.tensors import cubes, in_three_places, matrix_and_vector, multilinear

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
