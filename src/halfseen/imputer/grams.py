"""Sums of products of features, over the rows in which a column is known, fold by fold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask


@dataclass(frozen=True, eq=False)
class Grams:
    """``Σ ω φφ'`` over all rows of each fold, from which those of a column are had.

    Most columns are known in most rows: it is faster to take away the others.
    """

    features: Array  # (n, p)
    weights: Array | None  # (n,)  how often each row counts
    folds: NDArray[np.intp]  # (n,)
    n_folds: int
    every: Array  # (f, p, p)

    @classmethod
    def of(
        cls, features: Array, folds: NDArray[np.intp], n_folds: int, weights: Array | None = None
    ) -> "Grams":
        """Of all rows."""
        every = [_gram(features, weights, np.flatnonzero(folds == f)) for f in range(n_folds)]
        return cls(features, weights, folds, n_folds, np.array(every))

    def over(self, rows: Mask) -> Array:
        """Over some ``rows`` (n,) of each fold; (f, p, p)."""
        found = np.empty_like(self.every)
        for f in range(self.n_folds):
            here = self.folds == f
            inside, outside = np.flatnonzero(here & rows), np.flatnonzero(here & ~rows)
            if len(inside) <= len(outside):
                found[f] = _gram(self.features, self.weights, inside)
            else:
                found[f] = self.every[f] - _gram(self.features, self.weights, outside)
        return found


def _gram(features: Array, weights: Array | None, rows: NDArray[np.intp]) -> Array:
    part = features[rows]
    gram: Array = part.T @ (part if weights is None else part * weights[rows, None])
    return gram
