"""What is known of where the gaps are: how often features are observed, alone and together."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from halfseen.moments.gaps.dependence import dependence_of_gaps
from halfseen.moments.gaps.panels import MaskGroups, mask_groups, rows_behind
from halfseen.rows.arrays import Array


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
    def groups(self) -> MaskGroups:
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

    @property
    def own(self) -> Array:
        """``N_i``, the rows in which each feature is observed; (d,)."""
        return self.count.diagonal()

    @cached_property
    def groups(self) -> MaskGroups:
        """The features that are observed in exactly the same rows."""
        return mask_groups(self.count, self.n_rows)

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
