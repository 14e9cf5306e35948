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
