"""First and second moments of a table with gaps, from whatever is observed."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.core.arrays import Array
from halfseen.core.feature_sums import FeatureSums, fraction_of
from halfseen.core.pair_sums import PairSums


@dataclass(frozen=True, eq=False)
class Moments:
    """Available-case moments about an origin: each entry from the rows that hold it.

    Central moments have the marginal means as their origin, which biases them; dividing by

        k_ij = 1 - 1/N_i - 1/N_j + N_ij/(N_i N_j)

    makes them unbiased under values missing completely at random, for every pattern of gaps
    (with no gaps it is (N - 1)/N). Raw moments have the origin zero and need no correction.
    """

    n_rows: float
    mean: Array  # (d,)
    origin: Array  # (d,)    the mean, or zero
    centred: bool  # whether the origin is the mean
    second: Array  # (d, d)  estimates of E[(x - origin)_i (x - origin)_j]
    count: Array  # (d, d)   rows behind each entry

    @classmethod
    def central(cls, features: FeatureSums, pairs: PairSums) -> Self:
        """Central moments, from pair sums about the means."""
        inverse = 1 / features.count
        bias = 1 - np.add.outer(inverse, inverse) + pairs.count * np.outer(inverse, inverse)
        second = pairs.total / (pairs.count * bias)
        mean = features.mean
        return cls(features.n_rows, mean, mean, True, second, pairs.count)

    @classmethod
    def raw(cls, features: FeatureSums, pairs: PairSums) -> Self:
        """Raw moments, from pair sums about zero."""
        mean, second = features.mean, pairs.total / pairs.count
        return cls(features.n_rows, mean, np.zeros_like(mean), False, second, pairs.count)

    @property
    def offset(self) -> Array:
        """The mean as seen from the origin: zero for central moments; (d,)."""
        return self.mean - self.origin

    @property
    def covariance(self) -> Array:
        """Second moments about the mean, whatever the origin; (d, d)."""
        return self.second - np.outer(self.offset, self.offset)

    @property
    def observed_fraction(self) -> Array:
        """``p_i``, the fraction of rows in which a feature is observed; (d,)."""
        return fraction_of(np.diag(self.count), self.n_rows)
