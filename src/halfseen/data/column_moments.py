"""Counts, means and central power sums of each column."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from halfseen.data.arrays import Array, Mask
from halfseen.data.counts import RepeatedCells
from halfseen.data.rows import Block
from halfseen.data.sums import SHARED, Sums


@dataclass(frozen=True, eq=False)
class ValueSums:
    """Sums of squares and cubes about the mean of each feature, on its own scale or a log scale.

    Sums of two sets of rows are moved to their common mean (Chan, Golub and LeVeque, 1983), so
    that no digits are lost where means are large. Values without a logarithm are only counted.
    """

    n_rows: int
    count: Array  # (d,)
    mean: Array  # (d,)     zero where nothing is observed
    square: Array  # (d,)   Σ (x - mean)²
    cube: Array  # (d,)     Σ (x - mean)³
    n_without: Array  # (d,)  values of logged features that are not above zero
    smallest: Array  # (d,)   +inf where nothing is observed; not on a log scale

    @classmethod
    def logging(cls, logged: Mask) -> Callable[[Block], "ValueSums"]:
        """A summarise function that takes logarithms of some features."""
        return partial(cls.of, logged=logged)

    @classmethod
    def of(cls, block: Block, logged: Mask | None = None) -> Self:
        """The sums of one block of rows, each of which counts once."""
        cells = block.repeated_cells()
        if cells is not None:
            none = np.zeros(block.n_features, bool)
            return cls._of_repeated(len(block), cells, none if logged is None else logged)
        values, observed = block.values, block.observed
        smallest = np.where(observed, values, np.inf).min(axis=0, initial=np.inf)
        without = np.zeros(observed.shape, bool)
        if logged is not None and logged.any():
            without = logged & observed & (values <= 0)
            observed = observed & ~without
            values = np.where(logged, np.log(np.where(logged & observed, values, 1.0)), values)
        count = observed.sum(axis=0).astype(float)
        per_row = np.maximum(count, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities, which are refused later
            mean = np.where(observed, values, 0.0).sum(axis=0) / per_row
            about = np.where(observed, values - mean, 0.0)
            square, cube = (about**2).sum(axis=0), (about**3).sum(axis=0)
        return cls(len(values), count, mean, square, cube, without.sum(axis=0), smallest)

    @classmethod
    def _of_repeated(cls, n_rows: int, cells: RepeatedCells, logged: Mask) -> Self:
        """The sums of cells grouped by equal values."""
        d = len(logged)
        smallest = cells.lowest(cells.value, d)
        log = logged[cells.feature]
        without = log & (cells.value <= 0)
        n_without = cells.summed(without.astype(float), d)
        left, log = cells.where(~without), log[~without]
        values = np.where(log, np.log(np.where(log, left.value, 1.0)), left.value)
        count = left.summed(np.ones(len(values)), d)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities, which are refused later
            mean = left.summed(values, d) / np.maximum(count, 1.0)
            about = values - mean[left.feature]
            square, cube = left.summed(about**2, d), left.summed(about**3, d)
        return cls(n_rows, count, mean, square, cube, n_without, smallest)

    def __add__(self, other: Self) -> Self:
        a, b = self.count, other.count
        count = np.maximum(a + b, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            apart = other.mean - self.mean
            both = a * b / count
            cube = apart**3 * both * (a - b) / count
            cube += 3 * apart * (a * other.square - b * self.square) / count
            return type(self)(
                self.n_rows + other.n_rows,
                a + b,
                np.where(a > 0, self.mean + apart * b / count, other.mean),
                self.square + other.square + apart**2 * both,
                self.cube + other.cube + cube,
                self.n_without + other.n_without,
                np.minimum(self.smallest, other.smallest),
            )

    def select(self, features: Mask) -> Self:
        n_rows, *each = (getattr(self, field.name) for field in fields(self))
        return type(self)(n_rows, *(array[features] for array in each))

    @property
    def spread(self) -> Array:
        """Standard deviations with divisor N; (d,)."""
        return np.sqrt(self.square / np.maximum(self.count, 1.0))

    @property
    def skewness(self) -> Array:
        """Skewness, zero for constant features; (d,)."""
        spread = self.spread
        unit = np.where(spread > 0, spread, 1.0)
        skewness: Array = self.cube / np.maximum(self.count, 1.0) / unit**3
        return skewness


FEWEST_VALUES = 30
"""Of a column in a table, to compare it: spreads of fewer are chance where tails are long."""
HIGHEST = 4
"""Power of deviations that is summed."""


def _table_of_rows(block: Block, starts: Array) -> NDArray[np.intp]:
    """The table of each row of a block, from the first rows of all tables (t,); (n,)."""
    rows = block.start + np.arange(len(block))
    return np.searchsorted(starts[1:], rows, side="right")


class Differences(NamedTuple):
    """Differences of a statistic between tables, for each column; (d,) each."""

    chance: Array  # the probability of as much if tables are alike; 1 if it cannot be told
    size: Array  # of the largest difference
    lowest: NDArray[np.intp]  # the table in which it is lowest
    highest: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class TableSums(Sums):
    """Counts and power sums about an origin, for each column in each table."""

    origin: Array = field(metadata=SHARED)  # (d,)
    powers: Array  # (5, t, d)  Σ (x - o)^p over the rows of a table that hold the column

    @classmethod
    def about(cls, origin: Array, starts: Array) -> Callable[[Block], "TableSums"]:
        """A summarise function for tables that begin at rows ``starts`` (t,)."""
        return partial(cls.of, origin=origin, starts=starts)

    @classmethod
    def of(cls, block: Block, origin: Array, starts: Array) -> Self:
        """The sums of one block of rows."""
        powers = np.zeros((HIGHEST + 1, len(starts), len(origin)))
        about, there = block.about(origin), block.observed
        table = _table_of_rows(block, starts)
        for number in np.unique(table):
            own = table == number
            weights = np.ones(int(own.sum())) if block.weights is None else block.weights[own]
            powers[0, number] = weights @ there[own]
            values = about[own]
            for power in range(1, HIGHEST + 1):
                powers[power, number] = weights @ values**power
        return cls(origin, powers)

    @property
    def count(self) -> Array:
        """The number of values of each column in each table; (t, d)."""
        return np.asarray(self.powers[0])

    @property
    def mean(self) -> Array:
        """Means about the origin, zero without values; (t, d)."""
        return self.origin + self._raw(1)

    @property
    def variance(self) -> Array:
        """Variances of each column in each table; (t, d)."""
        return np.maximum(self._raw(2) - self._raw(1) ** 2, 0.0)

    @property
    def spread(self) -> Array:
        """Standard deviations; (t, d)."""
        return np.sqrt(self.variance)

    @property
    def enough(self) -> Mask:
        """Which columns have enough values to compare, in at least two tables; (t, d)."""
        there = (self.count >= FEWEST_VALUES) & (self.variance > 0)
        return np.asarray(there & (there.sum(axis=0) > 1))

    @property
    def within(self) -> Array:
        """Standard deviations within the compared tables; (d,)."""
        count = np.where(self.enough, self.count, 0.0)
        total = np.maximum(count.sum(axis=0), 1.0)
        return np.asarray(np.sqrt((count * self.variance).sum(axis=0) / total))

    def _raw(self, power: int) -> Array:
        return np.asarray(self.powers[power] / np.maximum(self.count, 1.0))

    @property
    def of_means(self) -> Differences:
        """Differences of means between tables, in standard deviations within tables."""
        error = self.variance / np.maximum(self.count, 1.0)
        unit = np.where(self.within > 0, self.within, 1.0)
        return compared(self.mean, error, self.enough, unit)

    @property
    def of_spreads(self) -> Differences:
        """Differences of log standard deviations between tables.

        ``Var(log s) ≈ (κ - 1) / 4n`` with the kurtosis κ of each table.
        """
        first, second, third, fourth = (self._raw(power) for power in range(1, 5))
        central = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        variance = np.where(self.enough, self.variance, 1.0)
        kurtosis = np.maximum(central / variance**2, 1.0 + 1e-3)
        error = (kurtosis - 1) / (4 * np.maximum(self.count, 1.0))
        return compared(np.log(variance) / 2, error, self.enough, np.ones(len(self.origin)))


def compared(value: Array, error: Array, there: Mask, unit: Array) -> Differences:
    """Compare estimates (t, d) with given variances between tables.

    By Cochran's ``Q = Σ_t w_t (v_t - v̄)²``, which has a χ² distribution of as many degrees of
    freedom as there are tables but one, if they are alike.
    """
    weight = np.where(there & (error > 0), 1.0 / np.where(error > 0, error, 1.0), 0.0)
    total = weight.sum(axis=0)
    centre = (weight * value).sum(axis=0) / np.where(total > 0, total, 1.0)
    statistic = (weight * (value - centre) ** 2).sum(axis=0)
    freedom = np.maximum((weight > 0).sum(axis=0) - 1, 1)
    known = (weight > 0).sum(axis=0) > 1
    low, high = np.where(weight > 0, value, np.inf), np.where(weight > 0, value, -np.inf)
    size = np.where(known, (high.max(axis=0) - low.min(axis=0)), 0.0) / unit
    chance = np.where(known, chi2.sf(statistic, freedom), 1.0)
    return Differences(chance, size, low.argmin(axis=0), high.argmax(axis=0))
