"""Features of regressions: observed or expected values of the other columns."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask

N_BINS = 6
FURTHEST = 4.0
"""Spreads from the mean, beyond which features do not follow a value."""


@dataclass(frozen=True, eq=False)
class View:
    """Columns as features of regressions.

    A number is its deviation ``z`` in standard deviations, ``|z|``, and in which of six bins it is;
    a column of levels has one feature a level. The first feature of a number, and all of a column
    of levels, are its *targets*: what regressions predict. In a gap all features are zero here.
    """

    numbers: Mask  # (d,)
    low: Array  # (d,)    of numbers: what is beyond is not taken at its word
    high: Array  # (d,)
    mean: Array  # (d,)
    spread: Array  # (d,)
    edges: tuple[Array, ...]  # of numbers: between bins, ascending
    levels: tuple[Array, ...]  # of the others: values, ascending

    @classmethod
    def of(cls, table: Array, levels: tuple[Array, ...], low: Array, high: Array) -> "View":
        """The view of a table (n, d) with NaN in the gaps."""
        numbers = np.array([len(one) == 0 for one in levels], dtype=bool)
        d = len(levels)
        mean, spread, edges = np.zeros(d), np.ones(d), [np.empty(0)] * d
        for j in np.flatnonzero(numbers):
            x = np.clip(table[~np.isnan(table[:, j]), j], low[j], high[j])
            if len(x):
                mean[j], spread[j] = x.mean(), x.std() or 1.0
                cuts = np.quantile(x, np.arange(1, N_BINS) / N_BINS)
                edges[j] = np.unique(cuts[(cuts > x.min()) & (cuts <= x.max())])
        return cls(numbers, low, high, mean, spread, tuple(edges), levels)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """The number of features of each column; (d,)."""
        pairs = zip(self.numbers, self.edges, self.levels, strict=True)
        return np.array(
            [_of_number(edges) if number else len(levels) for number, edges, levels in pairs],
            dtype=np.intp,
        )

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """The first feature of each column, and the total number; (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @cached_property
    def of_levels(self) -> NDArray[np.intp]:
        """Categorical columns, by number."""
        return np.flatnonzero(~self.numbers)

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The column of each feature; (q,)."""
        return np.repeat(np.arange(len(self.numbers)), self.sizes)

    def features(self, column: int) -> slice:
        return slice(int(self.starts[column]), int(self.starts[column + 1]))

    def targets(self, column: int) -> slice:
        """The features that regressions predict."""
        own = self.features(column)
        return slice(own.start, own.start + 1) if self.numbers[column] else own

    def known(self, table: Array) -> Mask:
        """Cells (n, d) that hold a value which has features; (n, d)."""
        found: Mask = ~np.isnan(table)
        for j in np.flatnonzero(~self.numbers):
            found[:, j] &= np.isin(table[:, j], self.levels[j])
        return found

    def __call__(self, table: Array) -> Array:
        """Features of a table (n, d), zero in the gaps; (n, q)."""
        found = np.zeros((len(table), self.size))
        for j in range(len(self.numbers)):
            found[:, self.features(j)] = self.column(j, table[:, j])
        return found

    def column(self, j: int, x: Array) -> Array:
        """Features of a column's cells (n,), zero in the gaps; (n, size)."""
        if not self.numbers[j]:
            same: Array = (x[:, None] == self.levels[j]).astype(float)
            return same
        there = ~np.isnan(x)
        z = np.zeros(len(x))
        z[there] = (np.clip(x[there], self.low[j], self.high[j]) - self.mean[j]) / self.spread[j]
        near = np.clip(z, -FURTHEST, FURTHEST)
        found = np.zeros((len(x), _of_number(self.edges[j])))
        found[:, 0], found[:, 1] = z, np.abs(near)
        place: Any = np.searchsorted(self.edges[j], np.where(there, x, 0.0), side="right")
        if len(self.edges[j]):
            found[np.arange(len(x)), 2 + place] = 1.0
        found[~there] = 0.0
        return found

    def deviations(self, table: Array) -> Array:
        """Numbers in standard deviations, NaN in the gaps; (n, numbers)."""
        own = self.numbers
        clipped = np.clip(table[:, own], self.low[own], self.high[own])
        found: Array = (clipped - self.mean[own]) / self.spread[own]
        return found

    def value(self, j: int, z: Array) -> Array:
        """The value of a standardised number."""
        found: Array = self.mean[j] + self.spread[j] * z
        return found


def _of_number(edges: Array) -> int:
    """The number of features of a numeric column."""
    return 2 + (len(edges) + 1 if len(edges) else 0)


NOBODY = -1
LINEAR = 0.1
"""The penalty of what is linear in a number, beside that of bins, levels and gaps."""
FREE = 1e-4
"""That of the constant, which is none, but for rounding."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Features of regressions: those of the view, missingness indicators, and a constant."""

    view: View
    gappy: NDArray[np.intp]  # columns whose gaps are features
    middle: Array  # (q,)      means of the view's features
    linear_elsewhere: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Features whose linear effect on numbers is in what they are predicted to be before."""

    @property
    def owner(self) -> NDArray[np.intp]:
        """The column of each feature; (p,)."""
        return np.concatenate([self.view.owner, self.gappy, [NOBODY]])

    @property
    def penalties(self) -> Array:
        """Relative penalties of the features; (p,)."""
        found = np.ones(len(self.owner))
        found[self.view.starts[:-1][self.view.numbers]] = LINEAR
        found[-1] = FREE
        return found

    def regressors(self, column: int) -> NDArray[np.intp]:
        """Features that a column is regressed on: those of the others."""
        others = self.owner != column
        if self.view.numbers[column]:
            others[self.linear_elsewhere] = False
        return np.flatnonzero(others)

    @classmethod
    def of(cls, view: View, table: Array, gappy: NDArray[np.intp]) -> "Layout":
        """The layout with the means of a table."""
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
