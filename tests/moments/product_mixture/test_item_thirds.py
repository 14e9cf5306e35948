from itertools import permutations

import numpy as np
import pytest

from halfseen.data.block import Block
from halfseen.moments.product_mixture.encoding import Encoding, ItemSums
from halfseen.moments.product_mixture.item_moments import (
    CubeSums,
    fit_tensor,
    joint_triples,
    normal_matrix,
)
from halfseen.moments.product_mixture.mixture_start import inner_products
from tests.moments.product_mixture.mixed import drawn, rows_of

N = 120
KINDS = ("number", 3, "count", 2, "number", 4)
J = len(KINDS)


def case(rank, weighed=False, complete=()):
    """A table, its features, a basis B, weights ω of items and of rows."""
    table = drawn(n=N, kinds=KINDS)
    X = table.table
    X[:, complete] = np.nan_to_num(X[:, complete])
    rng = np.random.default_rng(1)
    weights = rng.random(N) + 0.5 if weighed else None
    encoding = Encoding.of(table.items, rows_of(X).accumulate(ItemSums.of(table.items)))
    back = rng.normal(size=(len(encoding.item), rank))
    return rows_of(X, weights), encoding, back, rng.random(J) + 0.3


def naive(rows, encoding, back, emphasis):
    """All triples of distinct items, in a loop: least squares on one row a triple of features."""
    block = Block.from_table(rows.table)
    z, item, w = encoding.features(block), encoding.item, rows.weights
    w = np.ones(N) if w is None else w
    r = back.shape[1]
    cube, left, right = np.zeros((r, r, r)), [], []
    counts = np.zeros((J, J, J))
    for i, j, l in permutations(range(J), 3):  # noqa: E741
        seen = w * block.observed[:, [i, j, l]].all(axis=1)
        counts[i, j, l] = seen.sum()
        if not seen.sum():
            continue
        root = np.sqrt(seen.sum() * emphasis[[i, j, l]].prod())
        for a in np.flatnonzero(item == i):
            for b in np.flatnonzero(item == j):
                for c in np.flatnonzero(item == l):
                    moment = (seen * z[:, a] * z[:, b] * z[:, c]).sum() / seen.sum()
                    design = np.einsum("a,b,c->abc", back[a], back[b], back[c])
                    left.append(root * design.ravel())
                    right.append(root * moment)
                    cube += root**2 * moment * design
    spread, _ = symmetric_basis(r)
    solution = np.linalg.lstsq(np.array(left) @ spread, np.array(right), rcond=None)[0]
    return cube, (spread @ solution).reshape(r, r, r), counts


def symmetric_basis(r):
    index = {}
    for place in np.ndindex(r, r, r):
        index.setdefault(tuple(sorted(place)), len(index))
    spread = np.zeros((r**3, len(index)))
    for row, place in enumerate(np.ndindex(r, r, r)):
        spread[row, index[tuple(sorted(place))]] = 1.0
    return spread, len(index)


@pytest.mark.parametrize(("weighed", "complete"), [(False, ()), (True, ()), (False, (1, 4))])
def test_normal_equations_give_the_least_squares_over_all_distinct_triples(weighed, complete):
    rows, encoding, back, emphasis = case(3, weighed, list(complete))
    cube, tensor, counts = naive(rows, encoding, back, emphasis)
    observed = ~np.isnan(rows.table)
    gappy = ~observed.all(axis=0)
    assert gappy.sum() == J - len(complete)
    basis = emphasis[encoding.item][:, None] * back
    sums = rows.accumulate(CubeSums.along(encoding, basis, gappy))
    w = np.ones(N) if rows.weights is None else rows.weights
    triples = joint_triples(sums, observed.T.astype(float) @ (observed * w[:, None]), gappy)
    np.testing.assert_allclose(sums.cube, cube, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(triples, counts, atol=1e-10)
    found = fit_tensor(
        sums.cube, normal_matrix(triples, inner_products(back, encoding.item, emphasis))
    )
    np.testing.assert_allclose(found, tensor, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("rank", [1, 2, 7])
def test_cubes_of_any_rank_are_those_of_a_loop(rank):
    rows, encoding, back, _ = case(rank, weighed=True)
    sums = rows.accumulate(CubeSums.along(encoding, back, np.ones(J, bool)))
    z, total = encoding.features(Block.from_table(rows.table)), np.zeros((rank,) * 3)
    for i, j, l in permutations(range(J), 3):  # noqa: E741
        y = [z[:, encoding.item == one] @ back[encoding.item == one] for one in (i, j, l)]
        total += np.einsum("n,na,nb,nc->abc", rows.weights, *y)
    np.testing.assert_allclose(sums.cube, total, rtol=1e-10, atol=1e-9)


def test_a_tensor_that_triples_do_not_tell_is_the_smallest_that_fits():
    inner = np.zeros((4, 2, 2))
    inner[:, 0, 0] = 1.0  # nothing is seen of the second dimension
    triples = np.ones((4, 4, 4))
    cube = np.zeros((2, 2, 2))
    cube[0, 0, 0] = 64.0
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0] = 1.0
    np.testing.assert_allclose(
        fit_tensor(cube, normal_matrix(triples, inner)), expected, atol=1e-12
    )
