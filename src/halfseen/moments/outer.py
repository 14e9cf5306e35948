"""The product of a column and a row, as a matrix that is not formed."""

from dataclasses import dataclass

import numpy as np

from halfseen.rows.arrays import Array


@dataclass(frozen=True, eq=False)
class Outer:
    """``u v'``, as far as it multiplies."""

    left: Array  # (d,)  u
    right: Array  # (d,) v

    __array_ufunc__ = None  # arrays leave products with it to it

    def __rmul__(self, matrix: Array) -> Array:
        return matrix * np.outer(self.left, self.right)

    def __matmul__(self, vectors: Array) -> Array:
        return np.outer(self.left, self.right @ vectors)
