"""What values the features of a table can have, as far as its rows show."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.feature_sums import FeatureSums

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
    """The range of each feature, its limits, and the step from one of its values to the next.

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
        """What was seen."""
        seen = sums.count > 0
        low, high = np.where(seen, sums.minimum, -np.inf), np.where(seen, sums.maximum, np.inf)
        whole = np.where(seen & sums.whole, 1.0, 0.0)
        step = np.where(seen & sums.two_valued, high - low, whole)
        return cls(low, high, step, *value_limits(sums))

    def narrowed(self, usual: Array) -> Self:
        """Ranges between the lowest and highest of ``usual`` (2, d); NaN says nothing."""
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
        """Which features hold whole numbers only; (d,)."""
        ends = np.where(self.step > 0, [self.low, self.high], 0.5)
        whole: Mask = (ends % 1 == 0).all(axis=0)
        return whole

    def within(self, values: Array) -> Array:
        """Values (n, d), the nearest that was seen in place of what is beyond a limit."""
        inside = np.where(values < self.floor, self.low, values)
        return np.where(inside > self.ceiling, self.high, inside)

    def nearest(self, values: Array) -> Array:
        """The nearest of the values that the features can have; (n, d)."""
        stepped = self.step > 0
        start, step = np.where(stepped, self.low, 0.0), np.where(stepped, self.step, 1.0)
        steps = np.round((values - start) / step)
        return self.within(np.where(stepped, start + step * steps, values))


def value_limits(sums: FeatureSums) -> Array:
    """What no value of each feature can be beyond; (2, d).

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
    """What no value can be below, -inf if there is no limit; (d,)."""
    piled_up = (n_lowest >= FEWEST_PILED_UP) & (n_lowest >= PILED_UP * sums.count)
    below, above = mean - lowest, highest - mean
    signed = (lowest >= 0) & ((lowest <= NEAR_ZERO * below) | (above >= SKEWED * below))
    return np.where(piled_up | sums.two_valued, lowest, np.where(signed, 0.0, -np.inf))
