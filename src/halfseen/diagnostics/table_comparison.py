"""Compare shared columns and components of several tables."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from halfseen.data.arrays import Array, Mask
from halfseen.data.column_moments import FEWEST_VALUES, Differences, compared
from halfseen.data.rows import gathered
from halfseen.data.sampling import Sample
from halfseen.inference.fit import Fitted
from halfseen.io.studies import KeptTables


class PairNeverSeen(NamedTuple):
    """Two columns that no row holds together, and their implied correlation."""

    one: int  # column of the model
    other: int
    correlation: float  # that components give them
    least: float  # that would fit the tables as well
    most: float


class CategoriesCompared(NamedTuple):
    """Shares of categories by table, and the most different one."""

    chance: float  # of as much if tables are alike
    shares: Array  # (t, labels)
    label: int
    lowest: int  # the table in which it is least common
    highest: int

    @property
    def size(self) -> float:
        return float(self.shares[self.highest, self.label] - self.shares[self.lowest, self.label])


@dataclass(frozen=True, eq=False)
class TableShares:
    """Weights of rows by table and component."""

    table: NDArray[np.intp]  # (n,)  of each row
    memberships: Array  # (n, k)
    values: Array  # (n, d)  NaN in the gaps
    n_tables: int

    @classmethod
    def of(cls, fitted: Fitted[Any], sample: Sample, tables: KeptTables) -> "TableShares":
        rows, model = sample.rows.select(fitted.kept), fitted.model
        found = gathered(rows, lambda block: model.expected_latent(block, fitted.parameters))
        table = np.searchsorted(tables.starts[1:-1], sample.numbers, side="right")
        return cls(table, found, sample.table, len(tables.names))

    @property
    def shares(self) -> Array:
        """The share of each component in each table; (t, k)."""
        return self._by_table(self.memberships) / np.maximum(self.counts, 1.0)[:, None]

    @property
    def counts(self) -> Array:
        return np.bincount(self.table, minlength=self.n_tables).astype(float)

    def _by_table(self, values: Array) -> Array:
        total = np.zeros((self.n_tables, values.shape[1]))
        np.add.at(total, self.table, values)
        return total

    @property
    def of_shares(self) -> Differences:
        count = np.maximum(self.counts, 1.0)[:, None]
        shares = self.shares
        spread = np.maximum(self._by_table(self.memberships**2) / count - shares**2, 0.0)
        there = np.broadcast_to(self.counts[:, None] > 1, shares.shape) & (spread > 0)
        return compared(shares, spread / count, there, np.ones(shares.shape[1]))

    def of_categories(self, column: int, n_labels: int) -> "CategoriesCompared":
        """Shares of the categories of a column in tables that hold it."""
        values = self.values[:, column]
        known = ~np.isnan(values)
        codes = np.clip(values[known], 0, n_labels - 1).astype(int)
        counts = np.zeros((self.n_tables, n_labels))
        np.add.at(counts, (self.table[known], codes), 1.0)
        there, used = counts.sum(axis=1) >= FEWEST_VALUES, counts.sum(axis=0) > 0
        shares = counts / np.maximum(counts.sum(axis=1), 1.0)[:, None]
        if there.sum() < 2 or used.sum() < 2:
            return CategoriesCompared(1.0, shares, 0, 0, 0)
        some = counts[np.ix_(there, used)]
        chance = float(chi2_contingency(some[:, some.sum(axis=0) > 0]).pvalue)
        low, high = (np.where(there[:, None], shares, end) for end in (np.inf, -np.inf))
        label = int((high.max(axis=0) - low.min(axis=0)).argmax())
        ends = int(low[:, label].argmin()), int(high[:, label].argmax())
        return CategoriesCompared(chance, shares, label, *ends)

    @property
    def means(self) -> Array:
        """Means of columns by component; (k, d)."""
        there = ~np.isnan(self.values)
        weight = self.memberships.T @ there
        total = self.memberships.T @ np.where(there, self.values, 0.0)
        return np.asarray(total / np.maximum(weight, np.finfo(float).tiny))

    def explained_by_shares(self, column: int, lowest: int, highest: int) -> float:
        """The difference of a column between two tables if only shares of components differ."""
        return float((self.shares[highest] - self.shares[lowest]) @ self.means[:, column])

    def never_together(self, one: int, other: int) -> PairNeverSeen:
        """The implied correlation of two columns never seen together, and its possible range.

        A correlation is ``b + w √((1 - R_i)(1 - R_j))``: b comes from components, which explain the
        shares R of the variances, and w is that within components, which no row tells.
        """
        pair = self.means[:, [one, other]]
        share = self.memberships.mean(axis=0)
        about = pair - share @ pair
        variance = np.nanvar(self.values[:, [one, other]], axis=0)
        variance = np.where(variance > 0, variance, 1.0)
        between = float((share * about[:, 0]) @ about[:, 1] / np.sqrt(variance.prod()))
        left = np.clip(1 - (share @ about**2) / variance, 0.0, 1.0)
        room = float(np.sqrt(left.prod()))
        return PairNeverSeen(
            one, other, between, max(between - room, -1.0), min(between + room, 1.0)
        )


def never_held_together(holds: Mask) -> NDArray[np.intp]:
    """Pairs of columns that are in no table together, each being in some; (p, 2).

    >>> never_held_together(np.array([[True, True, False], [True, False, True]]))
    array([[1, 2]])
    """
    meet = holds.T.astype(int) @ holds
    known = holds.any(axis=0)
    apart = (meet == 0) & np.outer(known, known)
    return np.argwhere(np.triu(apart, 1))
