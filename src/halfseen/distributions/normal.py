"""Independent normal columns, with outliers and spikes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import gammaincc

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.rows import Block, Rows
from halfseen.distributions import normal_em
from halfseen.distributions.covariance_types import CovarianceShape, warn_of_scales
from halfseen.distributions.covariances import collapsed_variances, log_prior_of_variances
from halfseen.distributions.emission import Step, StepBeside, posterior
from halfseen.distributions.exponential_family import Exponential
from halfseen.distributions.normal_em import (
    FreeNormal,
    MixtureParameters,
    beside_the_spike,
    variances_with_spikes,
)
from halfseen.distributions.normal_kernels import background, outlier_probability, relative
from halfseen.moments.robust_statistics import RobustSummary, robust_summary
from halfseen.moments.survey import Survey

SMALLEST_SPREAD = 1e-5
"""Of a feature's range: a component with less has shrunk onto a point, and of a double's 16 digits
its density, by squares of the range in units of its variance, would keep fewer than seven."""
ALIKE_ROWS = 0.3
"""Of the prior on variances that differ between components, in rows of each component."""
OUT_OF_SIGHT = 10.0
"""Spreads from the middle: a table with values there is not learned from as if they were normal."""
FURTHEST = 1e60
"""Spreads from the middle that are told apart."""
FAR = 1.5
"""Times as far as the outlier limits: values there need clipping, and an allowance for outliers."""


@dataclass(frozen=True, eq=False)
class Normal(Exponential):
    """``log N(x; c_k, σ²_k) = x·c_k/σ²_k + m·(-½ log 2πσ²_k - ½ c_k²/σ²_k) + x²·(-½/σ²_k)``.

    With x measured from one origin for all components, squares need not be kept apart by feature
    where a component has one variance. Parameters that allow for outliers go their own way.
    Variances that differ between components have the prior of
    :mod:`halfseen.distributions.covariances`.
    """

    shape: CovarianceShape
    outliers: bool = False  # whether tables are looked through for them
    strength: float = 0.0  # of the prior, relative to the usual one
    floor: Array | float = 0.0  # (d,)  of the variances
    ceiling: Array | float = np.inf  # (d,)
    low: Array | float = -np.inf  # (d,)  of the centres
    high: Array | float = np.inf  # (d,)
    seen: RobustSummary | None = None

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same with bounds for variances, from the ranges of features.

        Tables that are looked through have limits that outliers do not set.
        """
        lowest, highest = kept.sums.minimum, kept.sums.maximum
        if not (self.outliers or self.shape.in_units):
            ceiling = self.shape.shared((highest - lowest) ** 2)
            return replace(self, floor=SMALLEST_SPREAD**2 * ceiling, ceiling=ceiling)
        seen = robust_summary(rows, kept.sums)
        if "d" not in self.shape.axes:
            warn_of_scales(kept.names, seen.high - seen.low)
        shape = self.shape.measured_in(seen.spread) if self.shape.in_units else self.shape
        low, high = (
            (np.maximum(lowest, seen.low), np.minimum(highest, seen.high))
            if self.outliers
            else (lowest, highest)
        )
        ceiling = shape.shared((high - low) ** 2)
        rounding = np.minimum(seen.step**2 / (2 * np.pi), seen.variance)
        return replace(
            self,
            shape=shape,
            floor=np.maximum(SMALLEST_SPREAD**2 * ceiling, shape.shared(rounding)),
            ceiling=ceiling,
            low=low,
            high=high,
            seen=seen if self.outliers else None,
        )

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        if self.seen is None or self.without_outliers(kept):
            return rows
        low, high = self.seen.low, self.seen.high
        return rows.map(lambda block: block.clipped(low, high))

    def without_outliers(self, kept: Survey) -> bool:
        """Whether no values are far beyond the outlier limits."""
        return self.seen is None or not self.seen.beyond(kept.sums, FAR).any()

    def origin(self, parameters: MixtureParameters) -> Array:
        """The mean of the mixture, so that squares expand without losing digits."""
        middle: Array = parameters.weights @ parameters.centres
        return middle if parameters.plain else np.zeros_like(middle)

    def moved(self, parameters: MixtureParameters, by: Array) -> MixtureParameters:
        return replace(
            parameters,
            means=parameters.means + by,
            centres=parameters.centres + by,
            middle=parameters.middle + by,
            spike=parameters.spike + by,
            other=parameters.other + by,
        )

    def statistics(self, values: Array, mask: Array) -> tuple[Array, ...]:
        """Values, mask and squares, the last summed over shared variances."""
        return values, mask, self.shape.squares(values)

    def natural(self, parameters: MixtureParameters) -> tuple[Array, ...]:
        """The coefficients of those statistics."""
        centres, variances = parameters.centres, parameters.variances
        precision = 1 / variances
        constant = np.log(2 * np.pi * variances) + centres**2 * precision
        return centres * precision, -0.5 * constant, -0.5 * self.shape.precisions(variances)

    def log_densities(self, block: Block, parameters: MixtureParameters) -> Array:
        """Of what is observed in each row, under each component; (n, k).

        A row further out than any that the mixture was learned from must not be decided by that.
        """
        if not parameters.plain:
            return normal_em.densities(block, parameters)
        densities = super().log_densities(self._in_reach(block, parameters), parameters)
        with np.errstate(invalid="ignore"):
            far = np.abs(block.values - parameters.middle) > OUT_OF_SIGHT * parameters.spread
        rows = np.flatnonzero((far & block.observed).any(axis=1))
        if len(rows):
            densities[rows] = normal_em.densities(
                block.rows(rows), normal_em.with_possible_outliers(parameters)
            )
        return densities

    def step_densities(self, block: Block, parameters: MixtureParameters) -> Array:
        """Log-densities for E-steps, without constants; (n, k)."""
        if not parameters.plain:
            return relative(block, normal_em.cells_of(parameters)).T
        statistics = self.statistics(block.values, block.observed.astype(float))
        pairs = zip(self.natural(parameters), statistics, strict=True)
        return np.asarray(sum(each @ factor.T for factor, each in pairs))

    def _in_reach(self, block: Block, parameters: MixtureParameters) -> Block:
        """The same rows with values clipped to where squares do not overflow."""
        origin = self.origin(parameters)
        reach = FURTHEST * np.sqrt(parameters.variances.max(axis=0))
        low, high = origin - reach, origin + reach
        within = (low <= block.values) & (block.values <= high)
        return block if within.all() else block.clipped(low, high)

    def expect(self, parameters: MixtureParameters) -> Step:
        return super().expect(parameters) if parameters.plain else normal_em.expect(parameters)

    def expect_beside(self, parameters: MixtureParameters) -> StepBeside:
        """The E-step on a block, with log-densities of other columns."""
        plain = super().expect_beside
        return plain(parameters) if parameters.plain else normal_em.expect_beside(parameters)

    def given(
        self, block: Block, shares: Array, parameters: MixtureParameters
    ) -> tuple[Array, ...]:
        if parameters.plain:
            return super().given(block, shares, parameters)
        low, high = np.asarray(self.low), np.asarray(self.high)
        return normal_em.given(block, shares, parameters, low, high)

    def prior(self, parameters: MixtureParameters) -> float:
        """The log-prior of variances and of outlier and spike probabilities.

        Without a prior the likelihood rises without end where a component shrinks to a point, so
        that such places are ruled out.
        """
        if not self.strength and collapsed_variances(parameters.variances):
            return -np.inf
        height = log_prior_of_variances(parameters.variances, self.strength * ALIKE_ROWS)
        if parameters.plain or not self.strength:
            return height
        return height + self.strength * normal_em.prior(parameters)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: MixtureParameters
    ) -> MixtureParameters:
        if not before.plain:
            return self._maximise_cells(weights, sums, before)
        first, count, second = sums
        centres = np.divide(first, count, out=before.centres.copy(), where=count > 1e-10)
        # Σ r (x - c)² = Σ r x² - 2c Σ r x + c² Σ r m, summed over features if the squares are.
        cross = centres * (centres * count - 2 * first)
        if second.shape != cross.shape:
            cross = cross.sum(axis=1, keepdims=True)
        return replace(
            before,
            weights=weights,
            means=centres,
            centres=centres,
            variances=self._variances(second + cross, count, before),
        )

    def _maximise_cells(
        self, weights: Array, sums: tuple[Array, ...], before: MixtureParameters
    ) -> MixtureParameters:
        there, normal, first, second, at_spike = sums
        step = np.divide(first, normal, out=np.zeros_like(first), where=normal > 1e-10)
        residual, count = np.maximum(second - step**2 * normal, 0.0), normal
        if before.spiked:
            measured = np.isnan(before.other)  # of two values there is no spread
            step, residual, count = (np.where(measured, x, 0.0) for x in (step, residual, count))
        return replace(
            before,
            weights=weights,
            centres=before.centres + step,
            variances=self._variances(residual, count, before),
            spike_shares=normal_em.spike_shares(at_spike, there, normal, before, self.strength),
            outlier_share=normal_em.outlier_share(there, normal, self.strength),
        )

    def _variances(self, residual: Array, count: Array, before: MixtureParameters) -> Array:
        rows = self.strength * ALIKE_ROWS
        found = self.shape.variances(residual, count, before.variances, rows)
        return np.maximum(found, self.floor)

    def units(self, parameters: MixtureParameters) -> Mapping[str, Array]:
        return {"centres": np.sqrt(parameters.variances)}

    def within(self, parameters: MixtureParameters) -> MixtureParameters:
        variances = np.clip(parameters.variances, self.floor, self.ceiling)
        return replace(parameters, variances=variances)

    def means(self, parameters: MixtureParameters) -> Array:
        return parameters.means

    def variances(self, parameters: MixtureParameters) -> Array:
        return variances_with_spikes(parameters)

    def limits(self, kept: Survey) -> Array:
        if self.seen is None:
            return super().limits(kept)
        return np.array([self.low, self.high])

    def outlying(self, block: Block, parameters: MixtureParameters) -> Array:
        return outlier_probability(
            block, normal_em.cells_of(normal_em.with_possible_outliers(parameters))
        )

    def expected_outliers(self, block: Block, parameters: MixtureParameters) -> Array:
        expected: Array = normal_em.with_possible_outliers(
            parameters
        ).outlier_share * block.observed.sum(axis=1)
        return expected

    def tail(self, block: Block, parameters: MixtureParameters) -> Array:
        normal = (1 - self.outlying(block, parameters)) * normal_em.beside_spikes(block, parameters)
        apart = (block.values - parameters.centres[:, None]) ** 2 / parameters.variances[:, None]
        total, count = (normal * apart).sum(axis=2), normal.sum(axis=2)
        chance: Array = np.where(count > 0, gammaincc(np.maximum(count, 1e-9) / 2, total / 2), 1.0)
        return chance.T

    def completed(
        self, reference: MixtureParameters, complete: Mask, means: Array, left_over: Array
    ) -> MixtureParameters:
        """Variances of incomplete features: shared, or left over by the regression."""
        shape = (len(reference.weights), len(complete))
        every, variances = np.empty(shape), np.empty(shape)
        every[:, complete], every[:, ~complete] = reference.means, means
        variances[:, complete] = reference.variances
        variances[:, ~complete] = self.shape.completed(reference.variances, left_over)
        return MixtureParameters(reference.weights, every, variances)

    def draw(self, parameters: MixtureParameters, labels: Labels, random: Any) -> Array:
        """Draw from the component's normal or spike; never an outlier."""
        noise = random.standard_normal((len(labels), parameters.means.shape[1]))
        centre = beside_the_spike(parameters)
        rows: Array = centre[labels] + noise * np.sqrt(parameters.variances[labels])
        if np.isnan(parameters.spike).all():
            return rows
        rows = np.where(np.isnan(parameters.other), rows, parameters.other)
        at_spike = random.random_sample(rows.shape) < np.nan_to_num(parameters.spike_shares[labels])
        return np.where(at_spike, parameters.spike, rows)

    def free(self, parameters: MixtureParameters) -> FreeNormal:
        return FreeNormal(parameters, self.shape.labels(parameters.means.shape))

    def em_start(self, parameters: MixtureParameters) -> MixtureParameters:
        if self.seen is None:
            return self.within(parameters)
        centres = np.clip(parameters.centres, self.low, self.high)
        start = replace(parameters, centres=centres, means=centres)
        return self.within(normal_em.with_outliers(start, self.seen))

    def about(self, places: Array, like: MixtureParameters) -> MixtureParameters:
        wide = self.shape.shared(self._spread_of_table(like))
        centres = np.clip(places, self.low, self.high)
        return replace(
            like,
            weights=np.full(len(places), 1 / len(places)),
            centres=centres,
            means=centres,
            variances=np.broadcast_to(wide, places.shape),
            spike_shares=np.where(np.isnan(like.spike), np.nan, np.full(places.shape, 0.5)),
        )

    def _spread_of_table(self, like: MixtureParameters) -> Array:
        if self.seen is not None:
            return self.seen.variance
        middle = like.weights @ like.centres
        total: Array = like.weights @ (like.variances + (like.centres - middle) ** 2)
        return total

    def simpler(self, parameters: MixtureParameters, kept: Survey) -> MixtureParameters | None:
        if self.seen is None or parameters.plain or not np.isnan(self.seen.spike).all():
            return None
        if self.seen.beyond(kept.sums, FAR).any():
            return None
        return replace(parameters, outlier_share=0.0)

    def left_out(self, rows: Rows, parameters: MixtureParameters) -> float:
        if parameters.plain:
            return 0.0
        own = normal_em.cells_of(parameters)
        total = rows.accumulate(lambda block: block.weighed(background(block, own)).sum())
        return float(total)

    def finalised(self, rows: Rows, parameters: MixtureParameters) -> MixtureParameters:
        if parameters.plain:
            return replace(parameters, means=parameters.centres)
        low, high = np.asarray(self.low), np.asarray(self.high)

        def shares(block: Block) -> Array:
            return posterior(block, self, parameters).responsibilities

        means = normal_em.shown_means(rows, parameters, low, high, shares)
        return replace(parameters, means=means)
