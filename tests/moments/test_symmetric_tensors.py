"""Packed symmetric tensors, against full d × d × d arrays."""

import numpy as np
import pytest

from halfseen.moments.symmetric_tensors import project, size, slabs, third_products


def sorted_triples(d: int) -> list[tuple[int, int, int]]:
    return [(i, j, k) for j in range(d) for i in range(j + 1) for k in range(j, d)]


def symmetric(d: int, seed: int = 0) -> np.ndarray:
    t = np.random.default_rng(seed).normal(size=(d, d, d))
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    return sum(t.transpose(order) for order in orders)


@pytest.mark.parametrize("d", range(8))
def test_size_counts_the_sorted_triples(d):
    assert size(d) == len(sorted_triples(d))


@pytest.mark.parametrize("d", range(1, 8))
def test_slabs_follow_each_other_and_fill_the_vector(d):
    places = [place for _, place in slabs(d)]
    assert [j for j, _ in slabs(d)] == list(range(d))
    assert [place.start for place in places] == [0, *(place.stop for place in places[:-1])]
    assert [place.stop - place.start for place in places] == [(j + 1) * (d - j) for j in range(d)]
    assert places[-1].stop == size(d)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("broad", [0, 1, 2, 3, 5, 9, 20, 64, 1000])
@pytest.mark.parametrize("d", [1, 2, 3, 7, 13])
def test_products_are_those_of_all_sorted_triples_however_broad(d, broad, weighted):
    generator = np.random.default_rng(d)
    z = generator.normal(size=(11, d))
    weights = generator.random(11) if weighted else None
    full = np.einsum("n,ni,nj,nk->ijk", np.ones(11) if weights is None else weights, z, z, z)
    naive = [full[triple] for triple in sorted_triples(d)]
    np.testing.assert_allclose(third_products(z, weights, broad), naive, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("d", [0, 3])
def test_products_of_no_rows_are_zero(d):
    np.testing.assert_array_equal(third_products(np.empty((0, d))), np.zeros(size(d)))


def test_products_do_not_depend_on_the_layout_in_memory():
    z = np.random.default_rng(0).normal(size=(20, 6))
    expected = third_products(z)
    np.testing.assert_allclose(third_products(np.asfortranarray(z)), expected, rtol=1e-13)
    np.testing.assert_allclose(third_products(np.repeat(z, 2, axis=0)[::2]), expected, rtol=1e-13)


@pytest.mark.parametrize(("d", "m"), [(1, 1), (2, 3), (5, 2), (6, 6), (4, 0)])
def test_projection_is_that_of_the_full_tensor(d, m):
    full, basis = symmetric(d), np.random.default_rng(1).normal(size=(d, m))
    projected = project(lambda j: full[: j + 1, j, j:], basis)
    naive = np.einsum("ijk,ia,jb,kc->abc", full, basis, basis, basis)
    np.testing.assert_allclose(projected, naive, rtol=1e-12, atol=1e-12)


def test_projection_on_the_axes_is_the_tensor_itself():
    full = symmetric(4)
    projected = project(lambda j: full[: j + 1, j, j:], np.eye(4))
    np.testing.assert_allclose(projected, full, rtol=1e-14)


def test_projected_products_are_products_of_projected_rows():
    generator = np.random.default_rng(2)
    z, basis = generator.normal(size=(30, 7)), generator.normal(size=(7, 3))
    products, places = third_products(z), dict(slabs(7))
    y = z @ basis
    np.testing.assert_allclose(
        project(lambda j: products[places[j]].reshape(j + 1, 7 - j), basis),
        np.einsum("na,nb,nc->abc", y, y, y),
        rtol=1e-11,
        atol=1e-11,
    )
