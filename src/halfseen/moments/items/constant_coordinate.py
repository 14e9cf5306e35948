"""The tensor of a mixture about its mean, bordered with a constant coordinate.

With classes of weight π_k at places ζ_k that have mean zero and covariance one, the vectors
``v_k = √π_k (1, ζ_k)`` are orthonormal, and of ``Σ_k π_k (1, ζ_k)^⊗3`` all entries with a constant
are known: G_000 = 1, G_00i = 0, G_0ij = δ_ij.
"""

from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array


class Classes(NamedTuple):
    """How common classes are, and where."""

    weights: Array  # (k,)   π
    places: Array  # (k, r)  ζ


def bordered(third: Array) -> Array:
    """The tensor (r + 1, r + 1, r + 1) to decompose, from the third moment (r, r, r)."""
    k = len(third) + 1
    tensor, i = np.zeros((k, k, k)), np.arange(1, k)
    tensor[1:, 1:, 1:] = third
    tensor[0, 0, 0] = 1.0
    tensor[0, i, i] = tensor[i, 0, i] = tensor[i, i, 0] = 1.0
    return tensor


def located(vectors: Array, n_rows: float) -> Classes:
    """``π_k = v_k[0]²`` and ``ζ_k = v_k[1:] / v_k[0]``, v_k being the columns of ``vectors``."""
    turned = vectors * np.where(vectors[0] < 0, -1.0, 1.0)
    root = np.maximum(turned[0], max(n_rows, 1.0) ** -0.5)  # no class is rarer than one row
    return Classes(root**2 / np.sum(root**2), (turned[1:] / root).T)
