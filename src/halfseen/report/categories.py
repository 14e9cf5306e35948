"""Portrait of a categorical column: shares of values in each component."""

import math
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import percent
from halfseen.report.portrait import WITHHELD, Difference, effective_rows

MOSTLY = 0.5
"""Of a component: a value that so many rows hold is what it is like."""
MIN_SCORE = 0.2
"""Standard deviations by which the share of a category differs if it is to be named."""
MOST_NAMED = 2
"""Categories of a column that a sentence names: those that differ most."""


def bounded(share: float, least: float) -> str:
    """A share in words, or a bound if fewer than ``least`` rows stand behind it.

    >>> bounded(0.25, 0.034), bounded(0.02, 0.034), bounded(0.99, 0.034)
    ('25%', '<4%', '>96%')
    """
    if share < least:
        return f"<{math.ceil(100 * least)}%"
    return f">{math.floor(100 - 100 * least)}%" if share > 1 - least else percent(share)


def numbered(labels: tuple[str, ...]) -> bool:
    """Whether three or more category names begin with numbers, which gives them an order.

    >>> numbered(("1 Extremely well", "2 Quite well", "3 Not too well"))
    True
    >>> numbered(("1st", "3rd", "2nd")), numbered(("1 yes", "no", "3 maybe"))
    (False, False)
    """
    first = [re.match(r"\d+", label) for label in labels]
    numbers = [int(one[0]) for one in first if one is not None]
    rising = all(a < b for a, b in pairwise(numbers))
    return len(numbers) == len(labels) > 2 and rising


NOTHING = Difference(0.0, "", "")


@dataclass(frozen=True, eq=False)
class Categories:
    """The categories of a column, and their shares in each component."""

    column: int
    name: str  # of the column
    labels: tuple[str, ...]
    values: Array  # (m,)    as the table has them
    shares: Array  # (m, k)  in each component, the most common first
    weights: Array  # (k,)   of the components
    least: Array  # (k + 1,) shares below are told as bounds; the last are those of all rows
    withheld: Mask  # (k,)   components whose shares are not shown
    ordered: bool = False  # whether values follow each other
    of_gaps: bool = False  # whether the values are that the column has none, and that it has one
    n_merged: int = 0  # categories of which the last is made

    @classmethod
    def of(
        cls, column: int, name: str, labels: tuple[str, ...], values: Array, shares: Array,
        weights: Array,
    ) -> Self:  # fmt: skip
        k = len(weights)
        least, withheld = np.zeros(k + 1), np.zeros(k, bool)
        return cls(column, name, labels, values, shares, weights, least, withheld)

    @classmethod
    def missing(cls, column: int, name: str, chance: Array, weights: Array) -> Self:
        """Whether the column is observed, with probability ``chance`` (k,)."""
        shares = np.array([1 - chance, chance])
        gaps = cls.of(column, name, ("missing", "known"), np.array([np.nan, 0.0]), shares, weights)
        return replace(gaps, of_gaps=True)

    def without_small_cells(self, responsibilities: Array, table: Array, least: float) -> Self:
        """The same without shares that rest on fewer than ``least`` rows of ``table`` (n, d).

        Shares of fewer rows are told as bounds, and categories that fewer rows hold at all are
        not named: of those the label is what is known of somebody.
        """
        column = table[:, self.column]
        known = np.full(len(column), True) if self.of_gaps else ~np.isnan(column)
        every = np.column_stack([responsibilities, np.ones(len(column))])
        behind = effective_rows(every, known[:, None])[:, 0]
        bounds = np.minimum(least / np.maximum(behind, least), 0.5)
        shown = replace(self, least=bounds, withheld=behind[:-1] < least)
        return shown if self.of_gaps else shown._merged(column, least)

    def _merged(self, column: Array, least: float) -> Self:
        return self._without((column[:, None] == self.values).sum(axis=0) < least)

    def _without(self, rare: Mask) -> Self:
        """The same with some categories merged into a last one."""
        if not rare.any():
            return self
        n = int(rare.sum())
        # Merged categories must not be told apart again by merging twice.
        if self.n_merged:  # those that were put together before stay so
            n += self.n_merged - int(rare[-1])
            rare = np.r_[rare[:-1], True]
        common = np.flatnonzero(~rare)
        return replace(
            self,
            labels=(*(self.labels[i] for i in common), f"{n} other{'s' * (n > 1)}"),
            values=np.r_[self.values[common], np.nan],
            shares=np.vstack([self.shares[common], self.shares[rare].sum(axis=0)]),
            n_merged=n,
        )

    def few(self, most: int) -> Self:
        """The same with the rarest categories merged, at most that many left."""
        rare = np.zeros(len(self.labels), bool)
        if len(rare) > most:
            rare[np.argsort(-np.nan_to_num(self.of_all), kind="stable")[most - 1 :]] = True
        return self._without(rare)

    @property
    def of_all(self) -> Array:
        """Shares in all rows of the components shown; (m,)."""
        weights = np.where(self.withheld, 0.0, self.weights)
        shares: Array = self.shares @ weights / (weights.sum() or np.nan)
        return shares

    @property
    def scores(self) -> Array:
        """Differences from overall shares, in standard deviations; (m, k)."""
        every = self.of_all[:, None]
        spread = np.sqrt(np.maximum(every * (1 - every), 1e-12))
        return np.where(self.withheld, 0.0, np.nan_to_num((self.shares - every) / spread))

    @property
    def differs(self) -> bool:
        """Whether a share differs enough to be mentioned."""
        return bool((np.abs(self.scores) >= MIN_SCORE).any())

    @property
    def drawn(self) -> Array:
        """Shares for charts, no more exact than in the text; (m, k + 1)."""
        shares = np.column_stack([self.shares, self.of_all])
        return np.clip(np.round(np.nan_to_num(shares), 2), self.least, 1 - self.least)

    def told(self, label: int, component: int) -> str:
        """The share of a category in a component, or in all rows for the last column."""
        if component < len(self.weights):
            share = self.shares[label, component]
        else:
            share = self.of_all[label]
        return bounded(float(share), float(self.least[component]))

    def text(self, label: int, component: int) -> str:
        return "" if self.withheld[component] else self.told(label, component)

    def tip(self, label: int, component: int, noun: str) -> str:
        name = f"{self.name} {self.quoted(label)} in {noun} {component + 1}"
        if self.withheld[component]:
            return f"{name}: {WITHHELD}"
        all_rows = self.told(label, len(self.weights))
        return f"{name}: {self.told(label, component)} ({all_rows} of all)"

    def difference(self, component: int) -> Difference:
        """Categories that are more or less common in a component, in words; empty if none.

        How much is ``√(Σ_l (p_kl - p_l)² / p_l)``: of two values that is the difference in
        standard deviations.
        """
        if self.withheld[component] or len(self.labels) < 2:
            return NOTHING
        every, scores = self.of_all, self.scores[:, component]
        weight = (self.shares[:, component] - every) ** 2 / np.maximum(every, 1e-12)
        ranked = np.argsort(-weight, kind="stable")
        named = [int(i) for i in ranked if abs(scores[i]) >= MIN_SCORE][:MOST_NAMED]
        if len(self.labels) == 2:
            named = [i for i in named if scores[i] > 0 or (self.of_gaps and i == 0)][:1]
        if not named:
            return NOTHING
        named.sort(key=lambda i: -scores[i])
        last = len(self.weights)
        told = (
            f"{self.quoted(i)} {self.told(i, component)} ({self.told(i, last)} of all)"
            for i in named
        )
        size = float(np.sqrt(weight.sum()))
        return Difference(size, f"{self.name}: {', '.join(told)}", self._brief(named[0], component))

    def _brief(self, label: int, component: int) -> str:
        """The most common category of a component, or the one that differs most."""
        if self.of_gaps:
            label = 0
        more = self.scores[label, component] > 0
        if self.of_gaps:
            return f"{self.name} {'more' if more else 'less'} often missing"
        often = "more often " if more else "less often "
        if more and self.shares[label, component] >= MOSTLY:
            often = ""
        return f"{often}{self.name} {self.quoted(label)}"

    def quoted(self, label: int) -> str:
        """The quoted label of a category; merged categories are not quoted."""
        own = not self.of_gaps and not (self.n_merged and label == len(self.labels) - 1)
        return f"'{self.labels[label]}'" if own else self.labels[label]
