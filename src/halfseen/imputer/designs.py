"""The features of all rows beside each other, means in the gaps."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from halfseen.imputer.views import View
from halfseen.rows.arrays import Array, Mask

NOBODY = -1
LINEAR = 0.1
"""The penalty of what is linear in a number, beside that of bins, levels and gaps."""
FREE = 1e-4
"""That of the constant, which is none, but for rounding."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Which features regressions have: those of the view, which cells are missing, and a one."""

    view: View
    gappy: NDArray[np.intp]  # columns whose gaps are features
    middle: Array  # (q,)      means of the view's features
    said: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Features whose linear effect on numbers is part of what is said of these before."""

    @property
    def owner(self) -> NDArray[np.intp]:
        """The column of each feature; (p,)."""
        return np.concatenate([self.view.owner, self.gappy, [NOBODY]])

    @property
    def penalties(self) -> Array:
        """How much each feature is held back, beside others; (p,)."""
        found = np.ones(len(self.owner))
        found[self.view.starts[:-1][self.view.numbers]] = LINEAR
        found[-1] = FREE
        return found

    def regressors(self, column: int) -> NDArray[np.intp]:
        """Features that a column is regressed on: those of the others."""
        others = self.owner != column
        if self.view.numbers[column]:
            others[self.said] = False
        return np.flatnonzero(others)

    @classmethod
    def of(cls, view: View, table: Array, gappy: NDArray[np.intp]) -> "Layout":
        """With the means of a table."""
        there = view.known(table).sum(axis=0)[view.owner]
        return cls(view, gappy, view(table).sum(axis=0) / np.maximum(there, 1))

    def __call__(self, table: Array, known: Mask) -> Array:
        """Features of a table (n, d), means where nothing is ``known``; (n, p).

        What is better known of a gap was learned from the cell that is to be predicted as well, and
        regressions would believe it too much.
        """
        view = self.view
        found = np.empty((len(table), view.size + len(self.gappy) + 1))
        own = found[:, : view.size]
        own[:] = view(table)
        np.copyto(own, self.middle, where=~known[:, view.owner])
        found[:, view.size : -1] = ~known[:, self.gappy]
        found[:, -1] = 1.0
        return found
