"""The contract of a decomposer of small symmetric tensors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array


@dataclass(frozen=True, eq=False)
class Decomposition:
    """``G ≈ Σ_k λ_k v_k ⊗ v_k ⊗ v_k`` with unit vectors v_k and λ_k ≥ 0."""

    vectors: Array  # (k, k)  v_k in columns
    values: Array  # (k,)     λ_k
    off_diagonal: float  # fraction of G's square that is off the diagonal of G(V, V, V)

    @classmethod
    def along(cls, tensor: Array, vectors: Array) -> Self:
        """Read the values off ``tensor`` along unit ``vectors``, turned so that they are ≥ 0."""
        rotated = np.einsum("abc,ai,bj,ck->ijk", tensor, vectors, vectors, vectors, optimize=True)
        values = np.einsum("kkk->k", rotated)
        total = float(np.sum(rotated**2))
        rest = 1 - float(np.sum(values**2)) / total if total > 0 else 0.0
        return cls(vectors * np.where(values < 0, -1.0, 1.0), np.abs(values), max(rest, 0.0))


Decomposer = Callable[[Array, np.random.Generator], Decomposition]
"""From a symmetric tensor (k, k, k) to its decomposition; randomness only from the generator."""
