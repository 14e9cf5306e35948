"""Counts, sums and ranges of each column, from the first pass over the rows."""

from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.sums import ALL, HIGHEST, LOWEST, Sums


class Described(Protocol):
    """A block that can summarise its features."""

    def feature_sums(self) -> "FeatureSums":
        """Counts, sums and ranges of the observed entries of each feature."""


@dataclass(frozen=True, eq=False)
class FeatureSums(Sums):
    """Counts, sums and ranges of the observed entries of each feature."""

    n_rows: float  # rows with at least one observed entry, by weight
    n_empty: int  # rows with none, which say nothing
    count: Array  # (d,)  by weight
    total: Array  # (d,)  by weight
    minimum: Array = field(metadata=LOWEST)  # (d,)  +inf where nothing is observed
    maximum: Array = field(metadata=HIGHEST)  # (d,)  -inf where nothing is observed
    whole: Mask = field(metadata=ALL)  # (d,)  whether every observed value is a whole number
    two_valued: Mask = field(
        metadata=ALL
    )  # (d,)  whether every observed value is the smallest or the largest
    n_lowest: Array  # (d,)   entries that hold the minimum, by weight; zero if not counted
    n_highest: Array  # (d,)  entries that hold the maximum

    @staticmethod
    def of(block: Described) -> "FeatureSums":
        """The sums of one block of rows."""
        return block.feature_sums()

    @classmethod
    def of_table(cls, table: Array, weights: Array | None) -> Self:
        """The sums of rows (n, d) with NaN in the gaps, each counting ``weights`` (n,) times."""
        per_row = np.ones(len(table)) if weights is None else weights
        table = np.ascontiguousarray(table)
        swept = _swept(table, per_row)
        return cls(*swept[:7], _two_valued(table, *swept[4:6]), *swept[7:])

    def __add__(self, other: Self) -> Self:
        both = super().__add__(other)
        return replace(
            both,
            two_valued=both.two_valued & _same_ends(self, other),
            n_lowest=_at_end(self.minimum, self.n_lowest, other.minimum, other.n_lowest),
            n_highest=_at_end(-self.maximum, self.n_highest, -other.maximum, other.n_highest),
        )

    def select(self, features: Mask) -> Self:
        return type(self)(
            self.n_rows,
            self.n_empty,
            self.count[features],
            self.total[features],
            self.minimum[features],
            self.maximum[features],
            self.whole[features],
            self.two_valued[features],
            self.n_lowest[features],
            self.n_highest[features],
        )

    @property
    def mean(self) -> Array:
        """Means of the observed entries, NaN for features that are never observed; (d,)."""
        return np.divide(
            self.total, self.count, out=np.full_like(self.total, np.nan), where=self.count > 0
        )

    @property
    def observed_fraction(self) -> Array:
        """``p_i = N_i / N`` over the rows that are not empty; (d,)."""
        return fraction_of(self.count, self.n_rows)


def fraction_of(count: Array, n_rows: float) -> Array:
    """``count / n_rows``, exactly one where only rounding of weights differs."""
    fraction = count / max(n_rows, np.finfo(float).tiny)
    return np.where(fraction > 1 - 1e-9, 1.0, fraction)


def _same_ends(one: FeatureSums, other: FeatureSums) -> Mask:
    """Whether two ranges have at most two different ends; (d,)."""
    low, high = np.minimum(one.minimum, other.minimum), np.maximum(one.maximum, other.maximum)
    ends = np.array([one.minimum, one.maximum, other.minimum, other.maximum])
    nothing = np.repeat([one.minimum > one.maximum, other.minimum > other.maximum], 2, axis=0)
    same: Mask = (nothing | (ends == low) | (ends == high)).all(axis=0)
    return same


def _at_end(one: Array, n_one: Array, other: Array, n_other: Array) -> Array:
    """The number of entries at the lower of two minima."""
    return np.where(one <= other, n_one, 0.0) + np.where(other <= one, n_other, 0.0)


@njit(cache=True, nogil=True)
def _two_valued(
    table: Array, minimum: Array, maximum: Array
) -> Mask:  # pragma: no cover - compiled
    """Whether features hold no value between their ends."""
    found = np.ones(table.shape[1], np.bool_)
    for i in range(table.shape[1]):
        for row in range(len(table)):
            value = table[row, i]
            if value > minimum[i] and value < maximum[i]:
                found[i] = False
                break
    return found


@njit(cache=True, nogil=True)
def _swept(
    table: Array, weights: Array
) -> tuple[
    float, int, Array, Array, Array, Array, Mask, Array, Array
]:  # pragma: no cover - compiled
    """All sums in one sweep over the rows."""
    n_rows, n_empty, d = 0.0, 0, table.shape[1]
    count, total, fractions = np.zeros(d), np.zeros(d), np.zeros(d)
    minimum, maximum = np.full(d, np.inf), np.full(d, -np.inf)
    n_lowest, n_highest = np.zeros(d), np.zeros(d)
    for row in range(len(table)):
        weight = weights[row]
        for i in range(d):
            value = table[row, i]
            observed = value == value
            filled = value if observed else 0.0
            count[i] += weight if observed else 0.0
            total[i] += weight * filled
            # No comparison with NaN is true.
            n_lowest[i] = 0.0 if value < minimum[i] else n_lowest[i]
            n_highest[i] = 0.0 if value > maximum[i] else n_highest[i]
            minimum[i] = value if value < minimum[i] else minimum[i]
            maximum[i] = value if value > maximum[i] else maximum[i]
            n_lowest[i] += weight if value == minimum[i] else 0.0
            n_highest[i] += weight if value == maximum[i] else 0.0
            fractions[i] += 1.0 if filled != np.floor(filled) else 0.0
        first = 0
        while first < d and table[row, first] != table[row, first]:
            first += 1
        if first < d:
            n_rows += weight
        else:
            n_empty += 1
    whole = fractions == 0
    return n_rows, n_empty, count, total, minimum, maximum, whole, n_lowest, n_highest


PILED_UP = 0.05
"""Share of a feature's entries at an end of its range from which on that end is a limit: rounding
alone puts fewer on the outermost value of a continuous feature."""
FEWEST_PILED_UP = 5
"""Entries at an end of the range: fewer may be chance in a small table."""
NEAR_ZERO = 0.05
"""Distance of the lowest value from zero, as a share of its distance from the mean, up to which
zero is a limit of a feature without negative values."""
SKEWED = 2.0
"""How many times as far from the mean the highest value is as the lowest, from which on zero is a
limit of a feature without negative values. Of normal features that ratio is near 1."""


@dataclass(frozen=True, eq=False)
class PossibleValues:
    """The observed range, logical limits and step of the values of each feature.

    A step of 1 is that of whole numbers, one as wide as the range that of two values such as 0 and
    0.5, and 0 says that anything between the limits will do. Limits are what no value can be
    beyond, seen or not: the ends of the sample are none by themselves.
    """

    low: Array  # (d,)      lowest value that was seen; -inf where nothing is known of it
    high: Array  # (d,)     highest value that was seen; +inf where nothing is known of it
    step: Array  # (d,)
    floor: Array  # (d,)    lowest possible value; -inf if there is no limit
    ceiling: Array  # (d,)  highest possible value; +inf if there is no limit

    @classmethod
    def of(cls, sums: FeatureSums) -> Self:
        """Possible values from the sums of all rows."""
        seen = sums.count > 0
        low, high = np.where(seen, sums.minimum, -np.inf), np.where(seen, sums.maximum, np.inf)
        whole = np.where(seen & sums.whole, 1.0, 0.0)
        step = np.where(seen & sums.two_valued, high - low, whole)
        return cls(low, high, step, *value_limits(sums))

    def narrowed(self, usual: Array) -> Self:
        """Ranges narrowed to ``usual`` (2, d); NaN leaves them as they are."""
        low, high = np.fmax(self.low, usual[0]), np.fmin(self.high, usual[1])
        steps = np.where(self.step > 0, self.step, 1.0)
        origin = np.where(np.isfinite(self.low), self.low, 0.0)
        # The ends are values that the feature can have.
        first = origin + steps * np.ceil((low - origin) / steps - 1e-9)
        last = origin + steps * np.floor((high - origin) / steps + 1e-9)
        stepped = (self.step > 0) & (first <= last)
        # Sums of floats may be a last digit beyond the ends that they stand for.
        first, last = np.maximum(first, low), np.minimum(last, high)
        return replace(self, low=np.where(stepped, first, low), high=np.where(stepped, last, high))

    @property
    def whole(self) -> Mask:
        """Which features hold only whole numbers; (d,)."""
        ends = np.where(self.step > 0, [self.low, self.high], 0.5)
        whole: Mask = (ends % 1 == 0).all(axis=0)
        return whole

    def within(self, values: Array) -> Array:
        """Values (n, d) moved into the limits."""
        inside = np.where(values < self.floor, self.low, values)
        return np.where(inside > self.ceiling, self.high, inside)

    def nearest(self, values: Array) -> Array:
        """The nearest possible values; (n, d)."""
        stepped = self.step > 0
        start, step = np.where(stepped, self.low, 0.0), np.where(stepped, self.step, 1.0)
        steps = np.round((values - start) / step)
        return self.within(np.where(stepped, start + step * steps, values))


def value_limits(sums: FeatureSums) -> Array:
    """Logical limits of the values of each feature; (2, d).

    Of two values they are the ends. An end of the range that rows pile up at is a limit. So is zero
    if no value is on its other side, and values come near to it or are skewed away from it.
    """
    seen = sums.count > 0
    mean = np.where(seen, sums.mean, 0.0)
    lowest, highest = np.where(seen, sums.minimum, -1.0), np.where(seen, sums.maximum, 1.0)
    floor = _lower_limit(lowest, mean, highest, sums.n_lowest, sums)
    ceiling = -_lower_limit(-highest, -mean, -lowest, sums.n_highest, sums)
    return np.where(seen, [floor, ceiling], [[-np.inf], [np.inf]])


def _lower_limit(
    lowest: Array, mean: Array, highest: Array, n_lowest: Array, sums: FeatureSums
) -> Array:
    """The lower limit of each feature, -inf without one; (d,)."""
    piled_up = (n_lowest >= FEWEST_PILED_UP) & (n_lowest >= PILED_UP * sums.count)
    below, above = mean - lowest, highest - mean
    signed = (lowest >= 0) & ((lowest <= NEAR_ZERO * below) | (above >= SKEWED * below))
    return np.where(piled_up | sums.two_valued, lowest, np.where(signed, 0.0, -np.inf))
