"""Starting points: rows far from each other, and the rows nearest to them.

References
----------
D. Arthur, S. Vassilvitskii (2007), k-means++: the advantages of careful seeding. L. Scrucca,
A. Raftery (2015), Improved initialisation of model-based clustering using Gaussian hierarchical
partitions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from halfseen.data.arrays import Array
from halfseen.data.canonical_order import canonical_order

FARTHEST = 3.0
"""Spreads from the middle: further values would be seeds for being far alone."""
MOST_JOINED = 400
"""Rows that are joined with each other: the cost grows with the square."""
Way = Literal["ward", "complete", "average"]
WAYS: tuple[Way, ...] = ("ward", "complete", "average")
EVERY_WAY: list[tuple[str, Way]] = [
    (space, way) for way in WAYS for space in ("rows", "alike", "between")
]
FEW_WAYS: list[tuple[str, Way]] = [
    ("rows", "ward"),
    ("rows", "complete"),
    ("alike", "ward"),
    ("alike", "average"),
]
LESS_BLUR = 0.2
BLUR = 0.5
"""What a row has of all components alike, if it has the rest of the nearest."""


@dataclass(frozen=True, eq=False)
class Seeding:
    """Standardised rows in canonical order of columns, for seeds.

    Seeds then do not depend on how columns are sorted, not even by rounding.
    """

    order: NDArray[np.intp]  # (d,)  of the table's columns; the following are in it
    values: Array  # (n, d)   zero in the gaps
    observed: Array  # (n, d)  ones
    middle: Array  # (d,)
    spread: Array  # (d,)

    @classmethod
    def of(cls, table: Array, item: NDArray[np.intp] | None = None) -> Self:
        """The non-empty rows of a table (n, d) with NaN in the gaps.

        Columns of one ``item`` (d,) count together as much as one column.
        """
        order = canonical_order(table).columns
        table = table[:, order]
        item = np.arange(len(order)) if item is None else item[order]
        observed = ~np.isnan(table)
        known = np.where(observed.any(axis=0), table, 0.0)  # of other features nothing matters
        low, middle, high = np.nanquantile(known, [0.1, 0.5, 0.9], axis=0)
        deviation = np.nanstd(known, axis=0)
        spread = np.where(high > low, (high - low) / 2.563, deviation)
        spread = np.where(spread > 0, spread, 1.0)
        spread = spread * _shared(known / spread, item)
        values = np.clip((table - middle) / spread, -FARTHEST, FARTHEST)
        filled = np.where(observed, values, 0.0)
        return cls(order, filled, observed.astype(float), middle, spread)

    def nearest(self, k: int, random: np.random.Generator, first: Array | None = None) -> Array:
        """Seeds far from each other, with the rows nearest to each; (n, k).

        The ``first`` (c, d) seeds may be given, on the scale of the table.
        """
        n, d = self.values.shape
        seeds, there = np.zeros((0, d)), np.zeros((0, d))
        if first is not None:
            first = first[:, self.order]
            seeds = np.clip((first - self.middle) / self.spread, -FARTHEST, FARTHEST)
            there = np.ones_like(seeds)
        distance = self.distances(seeds, there)
        while distance.shape[1] < k:
            nearest = distance.min(axis=1, initial=np.inf)
            chance = nearest if distance.shape[1] and nearest.sum() > 0 else np.ones(n)
            row = random.choice(n, size=1, p=chance / chance.sum())
            more = self.distances(self.values[row], self.observed[row])
            distance = np.hstack([distance, more])
        share: Array = (1 - BLUR) * np.eye(k)[distance.argmin(axis=1)] + BLUR / k
        return share

    def joined(self, k: int, ways: Sequence[tuple[str, Way]]) -> Iterator[Array]:
        """Hierarchical clusterings of rows, in several spaces and ways; (n, k) each.

        Gaps are in the middle. Only the first rows are joined, the others follow the nearest.
        """
        spaces = self._spaces()
        for space, way in ways:
            rows = spaces[space]
            few = rows[:MOST_JOINED]
            alone = len(few) < 2  # which is joined to nothing
            first = [0] * len(few) if alone else fcluster(linkage(few, way), k, "maxclust") - 1
            groups = np.eye(k)[first]
            centres = groups.T @ rows[:MOST_JOINED] / np.maximum(groups.sum(axis=0), 1.0)[:, None]
            away = np.sum((rows[MOST_JOINED:, None] - centres) ** 2, axis=2)
            away[:, groups.sum(axis=0) == 0] = np.inf
            later = np.eye(k)[away.argmin(axis=1)]
            yield (1 - LESS_BLUR) * np.vstack([groups, later]) + LESS_BLUR / k

    def _spaces(self) -> dict[str, Array]:
        """Rows as they are, with identity covariance, and in between."""
        about = self.values - self.values.mean(axis=0)
        left, sizes, right = np.linalg.svd(about, full_matrices=False)
        some = sizes > 1e-9 * sizes.max(initial=1e-300)
        left, sizes, right = left[:, some], sizes[some], right[some]
        return {
            "rows": self.values,
            "alike": left * np.sqrt(len(left)),
            "between": left * np.sqrt(sizes * np.sqrt(len(left))),
        }

    def any_rows(self, k: int, random: np.random.Generator) -> Array:
        """Rows drawn at random, with gaps filled by the median; (k, d)."""
        row = random.choice(len(self.values), size=k, replace=k > len(self.values))
        places = self.middle + self.spread * self.values[row]
        return places[:, np.argsort(self.order)]

    def distances(self, seeds: Array, there: Array) -> Array:
        """Mean squared distances over features that both observe, times d; (n, c).

        Rows that share none are as far as rows are from each other.
        """
        shared = self.observed @ there.T
        square = (self.values**2) @ there.T + self.observed @ (seeds**2).T
        square -= 2 * (self.values @ (seeds * there).T)
        mean = np.divide(square, shared, out=np.full_like(square, 2.0), where=shared > 0)
        distance: Array = np.maximum(mean, 0.0) * self.values.shape[1]
        return distance


def _shared(values: Array, item: NDArray[np.intp]) -> Array:
    of_item, n_columns = np.unique(item, return_inverse=True, return_counts=True)[1:]
    total = np.bincount(of_item, np.nanvar(values, axis=0))[of_item]
    return np.where(n_columns[of_item] > 1, np.sqrt(np.maximum(total, 1e-12)), 1.0)


# From one place to better ones: two components become one, and another becomes two.
#
# An EM run ends where no small step leads higher. What it mostly has wrong is that two components
# share rows that are of one kind, while one of the others has rows of two.
#
# References
# ----------
# N. Ueda, R. Nakano, Z. Ghahramani, G. Hinton (2000), SMEM algorithm for mixture models.

MOST_LEFT_OUT = 3
"""Components that are tried to do without: those that others make up for best."""
OWN = 0.9
"""What a row has of its side of a component that is cut in two."""


def moves(shares: Array, values: Array) -> Iterator[Array]:
    """Responsibilities (n, k) after one component is dropped and another is split.

    ``values`` (n, d) are the rows on a scale on which features are alike, gaps in the middle.
    """
    k = shares.shape[1]
    loss = -np.log1p(-np.minimum(shares, 1 - 1e-12)).sum(axis=0)
    for left_out in np.argsort(loss, kind="stable")[:MOST_LEFT_OUT]:
        others = np.delete(shares, left_out, axis=1) + 1e-12
        others /= others.sum(axis=1, keepdims=True)
        for cut in range(k - 1):
            side = _sides(others[:, cut], values)
            own = OWN * side + (1 - OWN) * (1 - side)
            both = others[:, cut, None] * np.column_stack([own, 1 - own])
            yield np.column_stack([np.delete(others, cut, axis=1), both])


def _sides(share: Array, values: Array) -> Array:
    """One for rows on one side of a component, along its longest direction."""
    about = values - share @ values / share.sum()
    _, directions = np.linalg.eigh((about * share[:, None]).T @ about)
    return np.where(about @ directions[:, -1] > 0, 1.0, 0.0)
