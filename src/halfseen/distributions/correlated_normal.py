"""What normal distributions with correlated columns have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy.special import gammaincc

from halfseen.data.arrays import Array, Labels
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block
from halfseen.distributions.emission import Emission
from halfseen.distributions.outlier_limits import OutlierLimits, beyond, inside, limits
from halfseen.inference.model import Cells
from halfseen.moments.survey import Survey

P = TypeVar("P", bound=Any)


@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelatedNormal(Emission[P]):
    """Normal distributions with correlated columns.

    Cells beyond outlier limits are gaps (:mod:`halfseen.distributions.outlier_limits`). Incomplete
    features are found before there are correlations, and these have no intervals.
    """

    outliers: bool = False  # whether tables are looked through for them
    strength: float = 0.0  # of the prior, relative to the usual one
    outlier_limits: OutlierLimits | None = None  # of a table
    by_gaps: bool = False  # whether rows are best sorted by their gaps

    @property
    def regularised(self) -> bool:
        """Whether a prior shrinks covariances of components towards each other."""
        return bool(self.strength)

    @property
    def axes(self) -> Mapping[str, str]:
        """The axes of fields that components may share."""
        return {}

    # What each has to say beside what every emission does.

    def independent(self, weights: Array, means: Array, variances: Array) -> P:
        """Components with independent columns."""
        raise NotImplementedError

    def single(self, some: MemoryRows, mean: Array, variance: Array) -> P:
        """One component with this mean and variance (d,), as a start."""
        return self.em_start(self.independent(np.ones(1), mean[None], variance[None]))

    def apart(self, alone: P, weights: Array, means: Array) -> P:
        """Components at ``means`` (k, d), from the single component of all rows."""
        raise NotImplementedError

    def expected(self, block: Block, shares: Array, parameters: P) -> Cells:
        """Conditional means and variances of cells, given responsibilities ``shares`` (n, k)."""
        raise NotImplementedError

    def draw_given(self, block: Block, labels: Labels, parameters: P, random: Any) -> Array:
        """Draw rows of the given components, given their observed cells; (n, d)."""
        raise NotImplementedError

    def covariances(self, parameters: P) -> Array:
        """Covariances of each component; (k, d, d)."""
        raise NotImplementedError

    def squares(self, block: Block, parameters: P) -> Array:
        """Mahalanobis distances of rows without outlying cells, squared; (n, k)."""
        raise NotImplementedError

    def alike(self, parameters: P, like: P) -> P:
        """These parameters in the form of another covariance type, as near as possible."""
        return parameters

    # What follows.

    def plain(self, parameters: P) -> tuple[Array, Array, Array]:
        """Weights, means and variances, ignoring correlations."""
        return parameters.weights, parameters.means, parameters.variances

    def normal_of(self, alone: P) -> tuple[Array, Array]:
        """The mean and the covariance of a single component."""
        return alone.means[0], self.covariances(alone)[0]

    def about(self, places: Array, like: P) -> P:
        """Means there, and what components leave of the covariance of all rows."""
        return self.apart(like, np.full(len(places), 1 / len(places)), places)

    def moved(self, parameters: P, by: Array) -> P:
        return replace(parameters, means=parameters.means + by) if by.any() else parameters

    def em_start(self, parameters: P) -> P:
        outlier_limits = {} if self.outlier_limits is None else self.outlier_limits.shown
        return replace(self.within(parameters), **outlier_limits)

    def means(self, parameters: P) -> Array:
        means: Array = parameters.means
        return means

    def variances(self, parameters: P) -> Array:
        variances: Array = parameters.variances
        return variances

    def limits(self, kept: Survey) -> Array:
        return np.array(limits(self.outlier_limits))

    def outlying(self, block: Block, parameters: P) -> Array:
        """Cells beyond the outlier limits are of none of the components."""
        outlier_probability = beyond(block, parameters).astype(float)
        return np.broadcast_to(
            outlier_probability, (len(parameters.weights), *outlier_probability.shape)
        )

    def tail(self, block: Block, parameters: P) -> Array:
        """The chance of a distance from the means that is as great."""
        block, _ = inside(block, parameters)
        square = np.maximum(self.squares(block, parameters), 0.0)
        count = block.observed.sum(axis=1)[:, None]
        chance: Array = np.where(count > 0, gammaincc(np.maximum(count, 1) / 2, square / 2), 1.0)
        return chance
