"""The few operations on small symmetric tensors that the method needs."""

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.block import products_of_pairs, upper_pairs

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
    """A tensor that is symmetric in its first two modes, with its third in each place."""
    return t + t.transpose(0, 2, 1) + t.transpose(2, 0, 1)
