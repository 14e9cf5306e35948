"""What is known of where the gaps are: how often features are observed, alone and together."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from halfseen.moments.gaps.panels import Panels, panels_of, rows_behind
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import fraction_of

INDEPENDENT_BELOW = 5.0
"""The largest standardised deviation, over all pairs, that chance is still likely to give."""


def dependence_of_gaps(count: Array, n_rows: float) -> float:
    """How far joint counts (d, d) are from what independent gaps would give, at the worst pair.

    Zero if fewer than two features have gaps.
    """
    return float(np.abs(joint_excess(count, n_rows)).max(initial=0.0))


def joint_excess(count: Array, n_rows: float) -> Array:
    """How much more often than by chance pairs are observed together, in standard deviations.

    ``N_ij N / (N_i N_j) - 1`` over its standard deviation under independence,
    ``√((1 - p_i)(1 - p_j) / (N p_i p_j))``; (d, d), zero on the diagonal and for features without
    gaps or without values.
    """
    fraction = fraction_of(count.diagonal(), n_rows)
    gappy = (fraction < 1) & (fraction > 0)
    p = fraction[gappy]
    excess = count[np.ix_(gappy, gappy)] / (n_rows * np.outer(p, p)) - 1
    spread = np.sqrt(np.outer((1 - p) / p, (1 - p) / p) / n_rows)
    every = np.zeros(count.shape)
    every[np.ix_(gappy, gappy)] = excess / spread
    np.fill_diagonal(every, 0.0)
    return every


class Gaps(Protocol):
    """Where the gaps of a table are, as far as the method has to know."""

    @property
    def n_rows(self) -> float:
        """Rows in which something is observed, by weight."""

    @property
    def own(self) -> Array:
        """``N_i``, the rows in which each feature is observed; (d,)."""

    @property
    def all_pairs(self) -> bool:
        """Whether there is an array of all pairs of features."""

    @property
    def exact(self) -> bool:
        """Whether the joint counts of all pairs of features are known."""

    def counted(self, matrix: Any, vectors: Array) -> Array:
        """``Σ_j N_ij R_ij v_j`` for a matrix R (d, d) and vectors (d, m); (d, m)."""

    @property
    def groups(self) -> Panels:
        """The features that are observed in exactly the same rows."""

    @property
    def rows_behind(self) -> float:
        """How many rows there were before empty ones were left out."""

    @property
    def dependence(self) -> float:
        """How far groups of features are from being missing independently, at the worst pair."""

    @property
    def dependence_of_features(self) -> float:
        """The same for single features, those of one group among them."""

    def rarest(self) -> tuple[int, int, float]:
        """The two features (or the one, twice) that the fewest rows hold, and how many do."""


@dataclass(frozen=True, eq=False)
class JointGaps:
    """Gaps known by the joint counts of all pairs of features."""

    count: Array  # (d, d)
    n_rows: float
    all_pairs: ClassVar[bool] = True
    exact: ClassVar[bool] = True

    def counted(self, matrix: Any, vectors: Array) -> Array:
        """``Σ_j N_ij R_ij v_j`` for a matrix R (d, d) and vectors (d, m); (d, m)."""
        product: Array = (self.count * matrix) @ vectors
        return product

    @cached_property
    def own(self) -> Array:
        """``N_i``, the rows in which each feature is observed; (d,)."""
        return self.count.diagonal()

    @cached_property
    def groups(self) -> Panels:
        """The features that are observed in exactly the same rows."""
        return panels_of(self.count, self.n_rows)

    @cached_property
    def rows_behind(self) -> float:
        """How many rows there were before empty ones were left out."""
        return rows_behind(self.own, self.n_rows, self.groups)

    @cached_property
    def dependence(self) -> float:
        """How far groups of features are from being missing independently, at the worst pair."""
        chosen = np.ix_(self.groups.representatives, self.groups.representatives)
        return dependence_of_gaps(self.count[chosen], self.rows_behind)

    @cached_property
    def dependence_of_features(self) -> float:
        """The same for single features, those of one group among them."""
        return dependence_of_gaps(self.count, self.n_rows)

    def rarest(self) -> tuple[int, int, float]:
        """The two features (or the one, twice) that the fewest rows hold, and how many do."""
        i, j = np.unravel_index(np.argmin(self.count), self.count.shape)
        return int(i), int(j), float(self.count[i, j])
