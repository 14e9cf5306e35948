"""Observed cells of some rows, alike ones in heaps: most of a sparse table is one heap of zeros."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask


class Heaps(NamedTuple):
    """``times`` cells of a feature that hold one value; a value may have several heaps."""

    feature: NDArray[np.intp]  # (m,)
    value: Array  # (m,)
    times: Array  # (m,)  above zero

    def where(self, chosen: Mask) -> "Heaps":
        """Some of them (m,)."""
        return Heaps(self.feature[chosen], self.value[chosen], self.times[chosen])

    def summed(self, values: Array, n_features: int) -> Array:
        """Sums of ``values`` (m,), one a cell, over the cells of each feature; (d,)."""
        sums: Array = np.bincount(self.feature, values * self.times, n_features).astype(float)
        return sums

    def lowest(self, values: Array, n_features: int) -> Array:
        """The lowest of ``values`` (m,) of each feature, +inf if it has none; (d,)."""
        low = np.full(n_features, np.inf)
        np.minimum.at(low, self.feature, values)
        return low
