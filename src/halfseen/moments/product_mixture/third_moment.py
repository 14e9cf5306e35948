"""The third moment of items, as the small tensor G that fits all triples of distinct items best.

For distinct items ``C3_ijl = E[z_i ⊗ z_j ⊗ z_l] = G(B_i, B_j, B_l)``, so G is found by

    minimise  Σ_{i, j, l distinct} N_ijl ω_i ω_j ω_l ‖Ĉ3_ijl - G(B_i, B_j, B_l)‖².

With ``y_j = ω_j B_j' z_j`` and ``M_j = ω_j B_j' B_j`` the normal equations are

    Σ_{ijl distinct} N_ijl G(M_i, M_j, M_l) = Σ_n Σ_{ijl distinct} y_i ⊗ y_j ⊗ y_l,

whose right side is a sum over rows by Newton and Girard's identity: with ``y = Σ_j y_j``
it is ``y³ - Σ_j (y_j ⊗ y_j ⊗ y in three places) + 2 Σ_j y_j³`` (cf. Zhang and Kileel 2022), so
triples of features are never formed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block
from halfseen.data.sums import Sums
from halfseen.moments import symmetric_tensors
from halfseen.moments.joint_counts import triple_counts
from halfseen.moments.product_mixture.encoding import Encoding, Ints

AT_A_TIME = 256
"""Rows whose products stay in the cache."""
SMALLEST = 1e-12
"""Directions of G that triples tell less of, beside the best told, are left at zero."""


@dataclass(frozen=True, eq=False)
class CubeSums(Sums):
    """The right side of the normal equations, and joint counts for the left."""

    cube: Array  # (r, r, r)
    count: Array  # (g (g+1) (g+2) / 6,)  rows that hold three of the g items with gaps, packed

    @classmethod
    def along(cls, encoding: Encoding, basis: Array, gappy: Mask) -> Callable[[Block], "CubeSums"]:
        """The function that sums a block's features along ``basis`` ΩB (q, r).

        Triples are counted of the items that ``gappy`` (j,) says.
        """
        edges = np.concatenate([[0], np.cumsum(encoding.width)])
        basis = np.ascontiguousarray(basis)

        def summarise(block: Block) -> CubeSums:
            features = encoding.features(block).T
            weights = block.row_weights()
            entries = _cubes(features, weights, edges, basis)
            cube: Array = entries[symmetric_tensors.places(basis.shape[1])]
            return cls(cube, triple_counts(block.select(gappy)))

        return summarise


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _cubes(
    features: Array, weights: Array, edges: Ints, basis: Array
) -> Array:  # pragma: no cover - compiled
    """``Σ_n w Σ_{ijl distinct} y_i ⊗ y_j ⊗ y_l`` from features (q, n), packed."""
    r, n = basis.shape[1], features.shape[1]
    out = np.zeros(r * (r + 1) * (r + 2) // 6)
    own, every = np.empty((r, AT_A_TIME)), np.empty((r, AT_A_TIME))
    squares, product = np.empty((r, r, AT_A_TIME)), np.empty(AT_A_TIME)
    for start in range(0, n, AT_A_TIME):
        m = min(AT_A_TIME, n - start)
        weight = weights[start : start + m]
        every[:] = 0.0
        squares[:] = 0.0
        for j in range(len(edges) - 1):
            if edges[j] == edges[j + 1]:
                continue
            for a in range(r):
                for row in range(m):
                    own[a, row] = basis[edges[j], a] * features[edges[j], start + row]
                for q in range(edges[j] + 1, edges[j + 1]):
                    for row in range(m):
                        own[a, row] += basis[q, a] * features[q, start + row]
                for row in range(m):
                    every[a, row] += own[a, row]
            place = 0
            for b in range(r):
                for a in range(b + 1):
                    for row in range(m):
                        product[row] = own[a, row] * own[b, row]
                        squares[a, b, row] += product[row]
                    for row in range(m):
                        product[row] *= 2.0 * weight[row]
                    for c in range(b, r):
                        total = 0.0
                        for row in range(m):
                            total += product[row] * own[c, row]
                        out[place] += total
                        place += 1
        place = 0
        for b in range(r):
            for a in range(b + 1):
                for c in range(b, r):
                    total = 0.0
                    for row in range(m):
                        x, y, z = every[a, row], every[b, row], every[c, row]
                        pairs = squares[a, b, row] * z + squares[a, c, row] * y
                        pairs += squares[b, c, row] * x
                        total += weight[row] * (x * y * z - pairs)
                    out[place] += total
                    place += 1
    return out


def joint_triples(sums: CubeSums, pairs: Array, gappy: Mask) -> Array:
    """``N_ijl`` of distinct items, zero where two are the same, from ``N_ij`` (j, j); (j, j, j).

    An item without gaps leaves of a triple the pair of the others.
    """
    n_items = len(pairs)
    whole = np.empty((n_items, n_items, n_items))
    some = np.flatnonzero(gappy)
    whole[np.ix_(some, some, some)] = sums.count[symmetric_tensors.places(len(some))]
    for i in np.flatnonzero(~gappy):
        whole[i] = whole[:, i] = whole[:, :, i] = pairs
    same = np.arange(n_items)
    whole[same, same] = whole[same, :, same] = whole[:, same, same] = 0.0
    return whole


def normal_matrix(triples: Array, inner: Array) -> Array:
    """``Σ N_ijl M_i ⊗ M_j ⊗ M_l``, as it acts on tensors, for matrices M (j, r, r); (r³, r³)."""
    r = inner.shape[1]
    flat = inner.reshape(len(inner), r * r)
    left = triples
    for _ in range(3):
        left = np.tensordot(left, flat, axes=(0, 0))  # at last (r², r², r²)
    return acting(left.reshape((r,) * 6))


def acting(left: Array) -> Array:
    """From ``Σ M_aa' ⊗ M_bb' ⊗ M_cc'`` (r, r, r, r, r, r) to a matrix (r³, r³) on tensors."""
    r = len(left)
    return left.transpose(0, 2, 4, 1, 3, 5).reshape(r**3, r**3)


def fit_tensor(cube: Array, left: Array) -> Array:
    """The symmetric G that ``left`` (r³, r³), of one system or several, takes to the cube."""
    r = len(cube)
    if r == 0:
        return cube
    spread = _symmetric(r)  # (r³, p)
    matrix, right = spread.T @ left @ spread, spread.T @ cube.ravel()
    size = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    alike = scale[:, None] * matrix * scale
    solution = scale * np.linalg.lstsq(alike, scale * right, rcond=SMALLEST)[0]
    return np.asarray(spread @ solution).reshape(r, r, r)


@cache
def _symmetric(r: int) -> Array:
    """From the entries of a packed symmetric tensor to those of the whole; (r³, p)."""
    return np.eye(symmetric_tensors.size(r))[symmetric_tensors.places(r).ravel()]
