"""Normal columns that go along with each other: one covariance for all components, or one each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block, Rows
from halfseen.distributions.covariances import collapsed_covariances, within_components
from halfseen.distributions.emission import Step
from halfseen.distributions.full_kernels import (
    DENSITIES,
    EXPECT,
    GIVEN,
    SQUARES,
    conditionals,
    draws,
    over_rows,
)
from halfseen.distributions.full_missing_patterns import ByGaps
from halfseen.distributions.full_parameters import (
    FullParameters,
    Prior,
    lifted,
    log_prior,
    maximised,
)
from halfseen.distributions.outlier_limits import Fences, beyond, fewest_together, inside, limits
from halfseen.inference.model import Cells
from halfseen.moments.survey import Survey

LEAST_WITHIN = 1e-7
"""Of a column's variance within components: what is its own at least, so that sums with inverse
covariances keep digits where one column is a copy of another."""


@dataclass(frozen=True, eq=False)
class FullNormal:
    """``log p(x_o | k) = -½ ((x_o - μ_o)' Q (x_o - μ_o) + log|Σ_oo| + |o| log 2π)``.

    Z. Ghahramani, M. Jordan (1994), Supervised learning from incomplete data via an EM approach.
    Cells beyond fences are gaps (:mod:`halfseen.distributions.outlier_limits`).
    """

    tied: bool
    outliers: bool = False  # whether tables are looked through for them
    strength: float = 0.0  # of the prior, relative to the usual one
    fences: Fences | None = None  # of a table
    fewest_together: float = np.inf  # rows of a table that hold a pair of columns, at least
    by_gaps: bool = True  # whether rows are best sorted by their gaps

    @property
    def regularised(self) -> bool:
        """Whether a prior keeps the covariances of components near each other."""
        return bool(self.strength) and not self.tied

    @property
    def axes(self) -> Mapping[str, str]:
        """What is shared is public once."""
        return {"covariances": "de" if self.tied else "kde"}

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """Means stay within what is usual in each column; priors suit what rows hold together."""
        fewest = fewest_together(rows) if self.strength else np.inf
        return replace(
            self,
            fences=Fences.of(rows, kept, self.outliers),
            fewest_together=fewest,
        )

    def plain(self, parameters: FullParameters) -> tuple[Array, Array, Array]:
        """Weights, means and variances of the features by themselves."""
        return parameters.weights, parameters.means, parameters.variances

    def independent(self, weights: Array, means: Array, variances: Array) -> FullParameters:
        """Components of which columns do not go along with each other."""
        covariances = variances[:, :, None] * np.eye(means.shape[1])
        return FullParameters(weights=weights, means=means, covariances=covariances)

    def single(self, some: MemoryRows, mean: Array, variance: Array) -> FullParameters:
        """One component, to begin with."""
        return self.em_start(self.independent(np.ones(1), mean[None], variance[None]))

    def apart(self, alone: FullParameters, weights: Array, means: Array) -> FullParameters:
        """Components at ``means`` (k, d), from the single one that all rows have ``alone``."""
        left = within_components(alone.covariances[0], weights, means)
        covariances = np.repeat(left[None], len(means), axis=0)
        return self.within(replace(alone, weights=weights, means=means, covariances=covariances))

    def origin(self, parameters: FullParameters) -> Array:
        """Zero: squares are not expanded."""
        return np.zeros(parameters.means.shape[1])

    def moved(self, parameters: FullParameters, by: Array) -> FullParameters:
        """Means move."""
        return replace(parameters, means=parameters.means + by) if by.any() else parameters

    def log_densities(self, block: Block, parameters: FullParameters) -> Array:
        """Of what is observed in each row, under each component; (n, k)."""
        block, alone = inside(block, parameters)
        found = self._per_row(DENSITIES, block, parameters)
        return found if alone is None else found + alone[:, None]

    def expect(self, parameters: FullParameters) -> Step:
        """The E-step on a block, of which no cell is beyond the fences."""
        known = _known(parameters, self.tied)

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            return _summed(EXPECT, block, log_weights, parameters, known)

        return step

    def given(self, block: Block, shares: Array, parameters: FullParameters) -> tuple[Array, ...]:
        """The same sums, if rows belong to components by ``shares`` (n, k)."""
        known = _known(parameters, self.tied)
        return _summed(GIVEN, block, shares, parameters, known)[2]

    def _per_row(self, job: int, block: Block, parameters: FullParameters) -> Array:
        rows, nothing = ByGaps.of(block), np.zeros((0, 0))
        found = np.empty((len(block), len(parameters.weights)))
        over_rows(
            job,
            *rows[1:],
            np.zeros(0),
            parameters.means,
            *_known(parameters, self.tied),
            found,
            np.zeros(0),
            nothing,
            nothing,
            np.zeros((0, 0, 0)),
        )
        return rows.back(found)

    def prior(self, parameters: FullParameters) -> float:
        """Covariances are near each other, and no column is told whole by others.

        Without a prior the likelihood rises without end where a component shrinks to a point, so
        that such places are ruled out.
        """
        if not (self.strength or self.tied) and collapsed_covariances(parameters.covariances):
            return -np.inf
        return log_prior(parameters, self._prior_rows(parameters), self.tied)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: FullParameters
    ) -> FullParameters:
        """Means and covariances of what belongs to each component."""
        floor = self._floor(before)
        return maximised(weights, sums, before, self._prior_rows(before), floor, self.tied)

    def _prior_rows(self, parameters: FullParameters) -> Prior:
        k, d = parameters.means.shape
        # Means take a row each.
        return Prior.of(self.strength, d, self.fewest_together - (k - 1), self.tied)

    def _floor(self, parameters: FullParameters) -> Array:
        """Of what a cell varies by given all others of its row; (d,)."""
        within: Array = LEAST_WITHIN * parameters.weights @ parameters.variances
        if self.fences is None:
            return within
        return np.maximum(within, self.fences.floor(len(parameters.weights)))

    def winsorised(self, rows: Rows, kept: Survey) -> Rows:
        """As they are: moments are those of independent columns."""
        return rows

    def em_start(self, parameters: FullParameters) -> FullParameters:
        """Where refinement begins: within what is usual."""
        fences = {} if self.fences is None else self.fences.shown
        return replace(self.within(parameters), **fences)

    def within(self, parameters: FullParameters) -> FullParameters:
        """Means within what is usual, and no cell told whole by the others of its row."""
        means = np.clip(parameters.means, *limits(self.fences))
        covariances = lifted(parameters.covariances, self._floor(parameters))
        return replace(parameters, means=means, covariances=covariances)

    def about(self, places: Array, like: FullParameters) -> FullParameters:
        """Means there, and what components leave of the covariance of all rows."""
        weights = np.full(len(places), 1 / len(places))
        return self.apart(like, weights, places)

    def as_numbers(self, table: Array) -> tuple[Array, NDArray[np.intp]]:
        """As they are."""
        return table, np.arange(table.shape[1])

    def centres_as_numbers(self, parameters: FullParameters) -> Array:
        """Their means."""
        return parameters.means

    def simpler(self, parameters: FullParameters, kept: Survey) -> None:
        """There is nothing simpler."""
        return

    def left_out(self, rows: Rows, parameters: FullParameters) -> float:
        """Nothing."""
        return 0.0

    def finalised(self, rows: Rows, parameters: FullParameters) -> FullParameters:
        """As they are."""
        return parameters

    def units(self, parameters: FullParameters) -> Mapping[str, Array]:
        """Means move by spreads."""
        return {"means": np.sqrt(parameters.variances)}

    def means(self, parameters: FullParameters) -> Array:
        """Of the columns in each component; (k, d)."""
        return parameters.means

    def variances(self, parameters: FullParameters) -> Array:
        """Of the columns in each component; (k, d)."""
        return parameters.variances

    def covariances(self, parameters: FullParameters) -> Array:
        """Of the columns in each component; (k, d, d)."""
        return parameters.covariances

    def places(self, parameters: FullParameters, home: FullParameters) -> Array:
        """Means, in the spread of each feature within components; (k, d)."""
        places: Array = parameters.means / np.sqrt(home.variances.mean(axis=0))
        return places

    def limits(self, kept: Survey) -> Array:
        """What is usual."""
        return np.array(limits(self.fences))

    def outlying(self, block: Block, parameters: FullParameters) -> Array:
        """Cells beyond the fences are of none of the components; (k, n, d)."""
        wild = beyond(block, parameters).astype(float)
        return np.broadcast_to(wild, (len(parameters.weights), *wild.shape))

    def strays(self, block: Block, parameters: FullParameters) -> Array:
        """None: what is beyond the fences is rare."""
        return np.zeros(len(block))

    def tail(self, block: Block, parameters: FullParameters) -> Array:
        """The chance of a distance from the means that is as great; (n, k)."""
        block, _ = inside(block, parameters)
        square = self._per_row(SQUARES, block, parameters)
        count = block.observed.sum(axis=1)[:, None]
        chance: Array = np.where(
            count > 0, gammaincc(np.maximum(count, 1) / 2, np.maximum(square, 0.0) / 2), 1.0
        )
        return chance

    def fills(self, shares: Array, parameters: FullParameters, cells: Cells) -> Cells:
        """With expectations."""
        return cells

    def completed(
        self, reference: FullParameters, complete: Mask, means: Array, left_over: Array
    ) -> FullParameters:
        """Incomplete features are found before there are covariances."""
        raise NotImplementedError

    def free(self, parameters: FullParameters) -> Any:
        """Covariances have no intervals."""
        raise NotImplementedError

    def expected(self, block: Block, shares: Array, parameters: FullParameters) -> Cells:
        """Cells given the others of their row, over components that it has ``shares`` (n, k) of."""
        block, _ = inside(block, parameters)
        rows, (covariances, precisions, _) = ByGaps.of(block), _known(parameters, self.tied)
        mean, variance = np.empty((2, *rows.values.shape))
        conditionals(
            rows.values,
            *rows[3:],
            np.ascontiguousarray(shares[rows.order]),
            parameters.means,
            covariances,
            precisions,
            mean,
            variance,
        )
        return Cells(rows.back(mean), rows.back(variance))

    def draw_given(
        self, block: Block, labels: Labels, parameters: FullParameters, random: Any
    ) -> Array:
        """Rows of the given components, drawn given the cells that are there; (n, d)."""
        block, _ = inside(block, parameters)
        rows, (covariances, precisions, _) = ByGaps.of(block), _known(parameters, self.tied)
        labels = labels[rows.order].astype(np.int64)
        drawn, out = self.draw(parameters, labels, random), np.empty(rows.values.shape)
        draws(rows.values, *rows[3:], labels, drawn, covariances, precisions, out)
        return rows.back(out)

    def normal_of(self, alone: FullParameters) -> tuple[Array, Array]:
        """The mean and the covariance of a single component."""
        return alone.means[0], self.covariances(alone)[0]

    def alike(self, parameters: FullParameters, like: FullParameters) -> FullParameters:
        """There is one way to write it."""
        return parameters

    def draw(self, parameters: FullParameters, labels: Labels, random: Any) -> Array:
        """Rows of the given components; (n, d)."""
        rows: Array = random.standard_normal((len(labels), parameters.means.shape[1]))
        roots = np.linalg.cholesky(parameters.covariances)
        for k, root in enumerate(roots):
            own = labels == k
            rows[own] = parameters.means[k] + rows[own] @ root.T
        return rows


def _known(parameters: FullParameters, tied: bool) -> tuple[Array, Array, Array]:
    """Covariances that differ, their inverses, and logarithms of their determinants."""
    some = np.ascontiguousarray(parameters.covariances[:1] if tied else parameters.covariances)
    return some, np.ascontiguousarray(np.linalg.inv(some)), np.linalg.slogdet(some)[1]


def _summed(
    job: int,
    block: Block,
    shares: Array,
    parameters: FullParameters,
    known: tuple[Array, Array, Array],
) -> tuple[float, Array, tuple[Array, ...]]:
    """What an E-step sums, under logarithms of shares (k,) or with shares (n, k) that are given."""
    rows, (k, d) = ByGaps.of(block), parameters.means.shape
    given = job == GIVEN
    total, count, first, second = np.zeros(k), *np.zeros((2, k, d)), np.zeros((k, d, d))
    likelihood = over_rows(
        job,
        *rows[1:],
        np.zeros(0) if given else shares,
        parameters.means,
        *known,
        np.ascontiguousarray(shares[rows.order]) if given else np.zeros((0, 0)),
        total,
        count,
        first,
        second,
    )
    return likelihood, total, (total[:, None], count, first, second)
