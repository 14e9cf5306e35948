"""Symmetric third-order tensors that store each entry once.

Entries with i ≤ j ≤ k are kept in one flat vector, slab by slab: slab ``j`` is the matrix of
shape (j + 1, d − j) of the entries (i, j, k) with i ≤ j ≤ k. That is a sixth of d³, every slab is
the result of one matrix product, and adding two arrays is adding two vectors.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.products import products_of_pairs, upper_pairs

Indices = NDArray[np.intp]


def size(d: int) -> int:
    """How many distinct entries a symmetric d × d × d array has."""
    return d * (d + 1) * (d + 2) // 6


def slabs(d: int) -> Iterator[tuple[int, slice]]:
    """Each middle index j with the position of its slab in the packed vector."""
    start = 0
    for j in range(d):
        stop = start + (j + 1) * (d - j)
        yield j, slice(start, stop)
        start = stop


def place(d: int, i: Indices, j: Indices, k: Indices) -> Indices:
    """The position of entries i ≤ j ≤ k in the packed vector.

    >>> int(place(4, np.array(1), np.array(2), np.array(3))) == int(places(4)[3, 1, 2])
    True
    """
    before = j * (j + 1) // 2 * d - (j - 1) * j * (j + 1) // 3  # Σ_{b<j} (b + 1)(d - b)
    found: Indices = before + i * (d - j) + k - j
    return found


def select(entries: Array, features: Mask) -> Array:
    """The packed array of only some of its d features, from ``entries`` and a mask (d,)."""
    d = len(features)
    kept = np.flatnonzero(features)
    parts = [
        entries[place].reshape(j + 1, d - j)[np.ix_(kept[kept <= j], kept[kept >= j] - j)].ravel()
        for j, place in slabs(d)
        if features[j]
    ]
    return np.concatenate([np.empty(0), *parts])


def third_products(deviations: Array, weights: Array | None = None, broad: int = 64) -> Array:
    """``Σ_n w z_i z_j z_k`` for i ≤ j ≤ k from deviations ``z`` (n, d) and weights, packed.

    Neighbouring slabs share one matrix product while its left side, the products z_i z_j, has no
    more than ``broad`` columns; the few entries with k < j that this adds are not kept.
    """
    columns = np.ascontiguousarray(deviations.T)
    right = columns if weights is None else columns * weights
    d, n = columns.shape
    totals, place_of = np.empty(size(d)), dict(slabs(d))
    pairs = np.empty((broad + d, n))
    for first, last in _groups(d, broad):
        tops = np.cumsum([0, *range(first + 1, last + 1)])
        for j, top in zip(range(first, last), tops, strict=False):
            np.multiply(columns[: j + 1], columns[j], out=pairs[top : top + j + 1])
        products = pairs[: tops[-1]] @ right[first:].T
        for j, top in zip(range(first, last), tops, strict=False):
            totals[place_of[j]] = products[top : top + j + 1, j - first :].ravel()
    return totals


def _groups(d: int, broad: int) -> Iterator[tuple[int, int]]:
    """Ranges [first, last) of middle indices with at most ``broad`` pairs."""
    first = 0
    while first < d:
        last = first + 1
        while last < d and (first + last + 2) * (last + 1 - first) // 2 <= broad:
            last += 1
        yield first, last
        first = last


@lru_cache(maxsize=4)
def triples(d: int) -> tuple[Indices, Indices, Indices]:
    """The indices i ≤ j ≤ k of each entry of a packed array."""
    parts = [np.meshgrid(np.arange(j + 1), j, np.arange(j, d), indexing="ij") for j in range(d)]
    i, j, k = (np.concatenate([part[axis].ravel() for part in parts]) for axis in range(3))
    return i, j, k


@lru_cache(maxsize=4)
def places(d: int) -> Indices:
    """The position of each entry of the full array in the packed one; (d, d, d)."""
    found = np.empty((d, d, d), dtype=np.intp)
    if d == 0:
        return found
    i, j, k = triples(d)
    for order in permutations((i, j, k)):
        found[order] = np.arange(len(i))
    return found


def project_whole(entries: Array, basis: Array) -> Array:
    """:func:`project` of packed ``entries`` by way of the whole array: faster for few features."""
    whole = entries[places(len(basis))]
    for _ in range(3):
        whole = np.tensordot(whole, basis, axes=(0, 0))
    return whole


def project(slab: Callable[[int], Array], basis: Array) -> Array:
    """``T(F, F, F)`` of a symmetric T given slab by slab, for a basis F (d, m); (m, m, m).

    Sorted triples stand for all their permutations: weighting an entry by (number of distinct
    permutations) / 6 and summing over the six orders of the modes counts each exactly once.
    """
    d, m = basis.shape
    ordered = np.zeros((m, m, m))
    for j in range(d):
        entries = slab(j) * _multiplicity(j, d)
        face = basis[: j + 1].T @ entries @ basis[j:]  # (m, m)
        ordered += face[:, None, :] * basis[j][None, :, None]
    return _over_all_orders(ordered)


def _multiplicity(j: int, d: int) -> Array:
    """(Distinct permutations of (i, j, k)) / 6 over slab j: 1, 1/2 with a tie, 1/6 if i = j = k."""
    weights = np.ones((j + 1, d - j))
    weights[j, :] = 0.5
    weights[:, 0] = 0.5
    weights[j, 0] = 1 / 6
    return weights


def _over_all_orders(t: Array) -> Array:
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    total: Array = np.sum([t.transpose(order) for order in orders], axis=0)
    return total


_PRODUCTS = 1 << 16


def multilinear(tensor: Array, basis: Array) -> Array:
    """``T(B, B, B)_abc = Σ_ijk T_ijk B_ia B_jb B_kc``; (m, m, m)."""
    for _ in range(3):
        tensor = np.tensordot(tensor, basis, axes=(0, 0))
    return tensor


def cubes(rows: Array, scale: Array) -> Array:
    """``Σ_i s_i r_i ⊗ r_i ⊗ r_i`` over the rows of ``rows`` (n, m) scaled by ``scale`` (n,)."""
    return pairs_with(rows, rows * scale[:, None])


def in_three_places(pairs: Array, singles: Array) -> Array:
    """``Σ_i`` of ``r_i ⊗ r_i ⊗ s_i`` with ``s_i`` in each of the three places.

    ``pairs`` holds the r_i and ``singles`` the s_i as rows, both (n, m).
    """
    return in_each_mode(pairs_with(pairs, singles))


def matrix_and_vector(matrix: Array, vector: Array) -> Array:
    """``M ⊗ v`` with v in each of the three places, for a symmetric M (m, m)."""
    return in_each_mode(matrix[:, :, None] * vector)


def pairs_with(pairs: Array, singles: Array) -> Array:
    """``Σ_i r_i ⊗ r_i ⊗ s_i`` with the r_i and s_i as rows, both (n, m); (m, m, m)."""
    n, m = pairs.shape
    i, j = upper_pairs(m)
    total = np.zeros((len(i), m))
    step = max(_PRODUCTS // max(len(i), 1), 1)  # squares are larger than what they are made of
    for start in range(0, n, step):
        some = pairs[start : start + step]
        total += products_of_pairs(some, some).T @ singles[start : start + step]
    tensor = np.empty((m, m, m))
    tensor[i, j] = tensor[j, i] = total
    return tensor


def in_each_mode(t: Array) -> Array:
    """A tensor symmetric in its first two modes, summed over the three positions of the third."""
    return t + t.transpose(0, 2, 1) + t.transpose(2, 0, 1)


def bordered(third: Array, constant: float = 1.0) -> Array:
    """A third moment about the mean (r, r, r) with a constant coordinate before the others.

    Of ``Σ_k π_k (1, ζ_k)^⊗3`` with mean zero and covariance one the entries with the constant are
    known without noise, ``G_000 = 1``, ``G_00i = 0`` and ``G_0ij = δ_ij``, here times ``constant``.
    """
    k = len(third) + 1
    tensor, i = np.zeros((k, k, k)), np.arange(1, k)
    tensor[1:, 1:, 1:] = third
    tensor[0, 0, 0] = constant
    tensor[0, i, i] = tensor[i, 0, i] = tensor[i, i, 0] = constant
    return tensor


class Located(NamedTuple):
    """Shares of components, and their positions in whitened space."""

    weights: Array  # (k,)   π
    places: Array  # (k, r)  ζ


def located(vectors: Array, n_rows: float) -> Located:
    """Components from the eigenvectors v_k of a bordered tensor.

    With weights π_k at places ζ_k that have mean zero and covariance one, the vectors
    ``v_k = √π_k (1, ζ_k)`` are orthonormal: ``π_k = v_k[0]²`` and ``ζ_k = v_k[1:] / v_k[0]``.
    """
    turned = vectors * np.where(vectors[0] < 0, -1.0, 1.0)
    root = np.maximum(turned[0], max(n_rows, 1.0) ** -0.5)  # none is rarer than one row
    return Located(root**2 / np.sum(root**2), (turned[1:] / root).T)
