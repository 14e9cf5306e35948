"""What values the features of a table can have, as far as its rows show."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.feature_sums import FeatureSums


@dataclass(frozen=True, eq=False)
class PossibleValues:
    """The range of each feature, and the step from one of its values to the next.

    A step of 1 is that of whole numbers, one as wide as the range that of two values such as 0 and
    0.5, and 0 says that anything between the ends will do.
    """

    low: Array  # (d,)   -inf where nothing is known of it
    high: Array  # (d,)  +inf where nothing is known of it
    step: Array  # (d,)

    @classmethod
    def of(cls, sums: FeatureSums) -> Self:
        """What was seen."""
        seen = sums.count > 0
        low, high = np.where(seen, sums.minimum, -np.inf), np.where(seen, sums.maximum, np.inf)
        whole = np.where(seen & sums.whole, 1.0, 0.0)
        return cls(low, high, np.where(seen & sums.two_valued, high - low, whole))

    def narrowed(self, usual: Array) -> Self:
        """Only values between the lowest and highest of ``usual`` (2, d); NaN says nothing."""
        low, high = np.fmax(self.low, usual[0]), np.fmin(self.high, usual[1])
        steps = np.where(self.step > 0, self.step, 1.0)
        origin = np.where(np.isfinite(self.low), self.low, 0.0)
        # The ends are values that the feature can have.
        first = origin + steps * np.ceil((low - origin) / steps - 1e-9)
        last = origin + steps * np.floor((high - origin) / steps + 1e-9)
        stepped = (self.step > 0) & (first <= last)
        return type(self)(np.where(stepped, first, low), np.where(stepped, last, high), self.step)

    @property
    def whole(self) -> Mask:
        """Which features hold whole numbers only; (d,)."""
        ends = np.where(self.step > 0, [self.low, self.high], 0.5)
        whole: Mask = (ends % 1 == 0).all(axis=0)
        return whole

    def within(self, values: Array) -> Array:
        """Values (n, d) no lower and no higher than any that was seen."""
        return np.clip(values, self.low, self.high)

    def nearest(self, values: Array) -> Array:
        """The nearest of the values that the features can have; (n, d)."""
        stepped = self.step > 0
        start, step = np.where(stepped, self.low, 0.0), np.where(stepped, self.step, 1.0)
        steps = np.round((values - start) / step)
        return self.within(np.where(stepped, start + step * steps, values))
