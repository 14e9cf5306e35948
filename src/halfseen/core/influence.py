"""How much each bin of rows moves what is computed from sums, and so how certain that is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfseen.core.arrays import Array
from halfseen.core.bin_sums import BinSums
from halfseen.core.rank_test import STEP
from halfseen.core.stream_sums import StreamSums


@dataclass(frozen=True, eq=False)
class Influence:
    """A statistic, and its derivatives with respect to the weight of each bin.

    The infinitesimal jackknife (Jaeckel 1972): bins being independent, the variance of the
    statistic is the sum of their squared influences.
    """

    value: Array  # (...)
    of_bins: Array  # (g, ...)

    @classmethod
    def on(cls, statistic: Callable[[StreamSums], Array], sums: BinSums) -> "Influence":
        """Differentiate a statistic of the sums of all bins."""
        ones = np.ones(sums.n_bins)
        value = np.asarray(statistic(sums.reweighted(ones)))
        moved = [
            np.asarray(statistic(sums.reweighted(ones + STEP * bin_)))
            for bin_ in np.eye(sums.n_bins)
        ]
        return cls(value, (np.array(moved) - value) / STEP)

    @property
    def error(self) -> Array:
        """The standard error; (...)."""
        error: Array = np.sqrt(np.sum(self.of_bins**2, axis=0))
        return error
