"""First and second moments of a table with gaps, from whatever is observed."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import diags_array

from halfseen.moments.gaps.joint_gaps import Gaps, JointGaps
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import FeatureSums, fraction_of

if TYPE_CHECKING:
    from halfseen.moments.pairs import PairSums


@dataclass(frozen=True, eq=False)
class Signal:
    """The low-rank part of the second moment, ``S = Σ_k s_k a_k ⊗ a_k``, and the rest."""

    matrix: Any  # (d, d)    S, unweighted: an array, or what multiplies like one
    noise: Array  # (d,)     ψ, the variance of each feature given the latent variables
    null: Array  # (d, m)    directions along which the latent variables do not vary, or none
    unit: Array  # (d,)      the scale on which features are alike before they are weighted

    @property
    def variance(self) -> Array:
        """The diagonal of S; (d,)."""
        diagonal: Array = self.matrix.diagonal()
        return diagonal


@dataclass(frozen=True, eq=False)
class Moments:
    """Available-case moments about an origin: each entry from the rows that hold it.

    Central moments have the marginal means as their origin, which biases them; dividing by

        k_ij = 1 - 1/N_i - 1/N_j + N_ij/(N_i N_j)

    makes them unbiased under values missing completely at random, for every pattern of gaps
    (with no gaps it is (N - 1)/N). Raw moments have the origin zero and need no correction.
    """

    mean: Array  # (d,)
    origin: Array  # (d,)    the mean, or zero
    centred: bool  # whether the origin is the mean
    second: Any  # (d, d)    estimates of E[(x - origin)_i (x - origin)_j]: an array or, if that
    #                        would be too large, what multiplies and has a diagonal like one
    gaps: Gaps

    @classmethod
    def central(cls, features: FeatureSums, pairs: "PairSums") -> Self:
        """Central moments, from pair sums about the means."""
        inverse = 1 / features.count
        bias = 1 - np.add.outer(inverse, inverse) + pairs.count * np.outer(inverse, inverse)
        second = pairs.total / (pairs.count * bias)
        mean = features.mean
        return cls(mean, mean, True, second, JointGaps(pairs.count, features.n_rows))

    @classmethod
    def raw(cls, features: FeatureSums, pairs: "PairSums") -> Self:
        """Raw moments, from pair sums about zero."""
        mean, second = features.mean, pairs.total / pairs.count
        gaps = JointGaps(pairs.count, features.n_rows)
        return cls(mean, np.zeros_like(mean), False, second, gaps)

    @cached_property
    def n_rows(self) -> float:
        """Rows in which something is observed, by weight."""
        return self.gaps.n_rows

    @cached_property
    def offset(self) -> Array:
        """The mean as seen from the origin: zero for central moments; (d,)."""
        return self.mean - self.origin

    def diagonal(self, values: Array) -> Any:
        """A diagonal matrix (d, d) of the kind that the second moment is."""
        return np.diag(values) if self.gaps.all_pairs else diags_array(values)

    @cached_property
    def covariance(self) -> Array:
        """Second moments about the mean, whatever the origin; (d, d)."""
        covariance: Array = self.second - np.outer(self.offset, self.offset)
        return covariance

    @cached_property
    def observed_fraction(self) -> Array:
        """``p_i``, the fraction of rows in which a feature is observed; (d,)."""
        return fraction_of(self.gaps.own, self.n_rows)
