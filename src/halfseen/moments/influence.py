"""How much each bin of rows moves what is computed from sums, and so how certain that is."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfseen.moments.bin_sums import BinSums
from halfseen.moments.origin_sums import OriginSums
from halfseen.rows.arrays import Array

STEP = 1e-4
"""How much bins are reweighted to see how a statistic moves: little, yet far above rounding."""


@dataclass(frozen=True, eq=False)
class Influence:
    """A statistic, and its derivatives with respect to the weight of each bin.

    The infinitesimal jackknife (Jaeckel 1972): bins being independent, the variance of the
    statistic is the sum of their squared influences.
    """

    value: Array  # (...)
    of_bins: Array  # (g, ...)

    @classmethod
    def on(cls, statistic: Callable[[OriginSums], Array], sums: BinSums) -> "Influence":
        """Differentiate a statistic of the sums of all bins."""
        value = np.asarray(statistic(sums.reweighted(np.ones(sums.n_bins))))
        moved = [np.asarray(statistic(replicate)) - value for replicate in sums.nudged(STEP)]
        return cls(value, np.array(moved) / STEP)

    @property
    def error(self) -> Array:
        """The standard error; (...)."""
        error: Array = np.sqrt(np.sum(self.of_bins**2, axis=0))
        return error

    def errors(self, multipliers: Array) -> Array:
        """Draws from the law of the statistic's error, for ``multipliers`` (b, g); (b, ...).

        The multiplier bootstrap, multipliers being of mean 0 and variance 1.
        """
        errors: Array = np.tensordot(multipliers, self.of_bins, axes=1)
        return errors
