"""Where components might be: rows far from each other, and the rows that are nearest to them.

References
----------
D. Arthur, S. Vassilvitskii (2007), k-means++: the advantages of careful seeding.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array

FARTHEST = 3.0
"""Spreads from the middle: further values would be seeds for being far alone."""
BLUR = 0.5
"""What a row has of all components alike, if it has the rest of the nearest."""


@dataclass(frozen=True, eq=False)
class Seeding:
    """Rows on a scale on which features are alike."""

    values: Array  # (n, d)   zero in the gaps
    observed: Array  # (n, d)  ones
    middle: Array  # (d,)
    spread: Array  # (d,)
    table: Array  # (n, d)     as it is, NaN in the gaps

    @classmethod
    def of(cls, table: Array) -> Self:
        """The rows of a table (n, d) with NaN in the gaps, none without values."""
        low, middle, high = np.nanquantile(table, [0.1, 0.5, 0.9], axis=0)
        deviation = np.nanstd(table, axis=0)
        spread = np.where(high > low, (high - low) / 2.563, deviation)
        spread = np.where(spread > 0, spread, 1.0)
        observed = ~np.isnan(table)
        values = np.clip((table - middle) / spread, -FARTHEST, FARTHEST)
        return cls(np.where(observed, values, 0.0), observed.astype(float), middle, spread, table)

    def nearest(self, k: int, random: np.random.Generator, first: Array | None = None) -> Array:
        """Seeds that are far from each other, and the rows nearest to each; (n, k).

        The ``first`` (c, d) seeds may be given, on the scale of the table.
        """
        n, d = self.values.shape
        seeds, there = np.zeros((0, d)), np.zeros((0, d))
        if first is not None:
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

    def any_rows(self, k: int, random: np.random.Generator) -> Array:
        """Any rows, gaps being in the middle; (k, d)."""
        row = random.choice(len(self.values), size=k, replace=k > len(self.values))
        return np.where(np.isnan(self.table[row]), self.middle, self.table[row])

    def distances(self, seeds: Array, there: Array) -> Array:
        """Mean squared distances over shared features, as if all were shared; (n, c).

        Rows that share none are as far as rows are from each other.
        """
        shared = self.observed @ there.T
        square = (self.values**2) @ there.T + self.observed @ (seeds**2).T
        square -= 2 * (self.values @ (seeds * there).T)
        mean = np.divide(square, shared, out=np.full_like(square, 2.0), where=shared > 0)
        distance: Array = np.maximum(mean, 0.0) * self.values.shape[1]
        return distance
