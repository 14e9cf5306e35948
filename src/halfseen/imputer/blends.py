"""How much of what each of several says of a number is taken, judged by rows that are held out.

References
----------
L. Breiman (1996), Stacked regressions.
"""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from scipy.optimize import nnls

from halfseen.rows.arrays import Array

LIKE_ALL = 100
"""Rows' worth of all columns together that each column has beside its own."""
ROUNDING = 1e-9


class Heard(NamedTuple):
    """Sums over cells of a column, of which several say something; they add."""

    products: Array  # (s, s)  of what is said, by what it errs at best
    with_truth: Array  # (s,)
    n_cells: float

    @classmethod
    def of(cls, said: Array, truth: Array) -> Self:
        """Of cells (n,) of which each of several says something (n, s)."""
        errors = ((said - truth[:, None]) ** 2).mean(axis=0)
        unit = max(float(errors.min()), ROUNDING)
        return cls(said.T @ said / unit, said.T @ truth / unit, float(len(truth)))

    def together(self, other: Self) -> Self:
        """Cells of both."""
        return type(self)(
            self.products + other.products,
            self.with_truth + other.with_truth,
            self.n_cells + other.n_cells,
        )

    def times(self, factor: float) -> Self:
        """As if there were so many times as many cells."""
        return type(self)(factor * self.products, factor * self.with_truth, factor * self.n_cells)

    @property
    def blend(self) -> Array:
        """Coefficients (s,), none below zero, that come nearest to the truth in squares."""
        n = len(self.with_truth)
        scale = max(float(np.trace(self.products)) / n, ROUNDING)
        root = np.linalg.cholesky(self.products / scale + ROUNDING * np.eye(n))
        found: Array = nnls(root.T, np.linalg.solve(root, self.with_truth / scale))[0]
        return found


def blends(columns: Sequence[Heard]) -> list[Array]:
    """Those of each column, which some rows' worth of all columns keep from chance."""
    if not columns:
        return []
    pooled = columns[0]
    for one in columns[1:]:
        pooled = pooled.together(one)
    usual = pooled._replace(with_truth=pooled.products @ pooled.blend)
    prior = usual.times(LIKE_ALL / pooled.n_cells)
    return [one.together(prior).blend for one in columns]
