"""Normal distributions with tied or full covariances."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.data.rows import Block, Rows
from halfseen.distributions.correlated_normal import CorrelatedNormal
from halfseen.distributions.covariances import (
    CovariancePrior,
    between_own_variances,
    collapsed_covariances,
    common_covariance,
    log_prior_of_correlations,
    log_prior_of_covariances,
    log_prior_of_shrinkage,
    no_lower,
    shrunk_covariances,
    within_components,
)
from halfseen.distributions.emission import Step
from halfseen.distributions.full_kernels import (
    DENSITIES,
    EXPECT,
    GIVEN,
    SQUARES,
    ByGaps,
    conditionals,
    draws,
    over_rows,
)
from halfseen.distributions.outlier_limits import (
    OutlierLimits,
    OutlierParameters,
    fewest_together,
    inside,
    limits,
)
from halfseen.inference.model import Cells
from halfseen.inference.parameters import ANY, DEFINITE, SHARE, learned
from halfseen.moments.survey import Survey

LEAST_WITHIN = 1e-7
"""Of a column's variance within components: what is its own at least, so that sums with inverse
covariances keep digits where one column is a copy of another."""


@dataclass(frozen=True, eq=False)
class FullParameters(OutlierParameters):
    """``x | component k ~ N(μ_k, Σ_k)`` with probability π_k."""

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # μ
    covariances: Array = learned("covariances_", ("de", "kde"), DEFINITE, 0.0)  # Σ, (k, d, d)

    @property
    def variances(self) -> Array:
        """Variances of each feature in each component; (k, d)."""
        return np.diagonal(self.covariances, axis1=1, axis2=2)


# Means and covariances from what an E-step sums, with the prior of components and of pairs.
#
# Covariances that differ have the two priors of :mod:`halfseen.distributions.covariances`. Where
# few rows hold a pair of columns together there is another one, on correlations, as a covariance
# could be singular there: the same divergence, of each covariance from the nearest normal without
# correlations. It does not depend on the units of columns.

SHRINKAGE_ROWS = 1.0
"""κ, rows of each component for each column: the weight of the components' harmonic mean. Held-out
rows of wine, iris and diabetes gain up to 3 nats each, and none are lost where components have
covariances of their own (``python -m benchmarks.covariances prior``)."""
COLLAPSE_ROWS = 0.03
"""δ, rows of each component for each column: the weight of the symmetric divergence, which alone
outweighs the likelihood of a component that shrinks to a point, and so may be small."""
PAIR_ROWS = 2.0
"""ν, where a pair of columns is there in no more rows than there are columns."""
VANISHED = 1e-8
"""Rows of a component that say nothing of it."""
ENOUGH_ROWS = 2.0
"""Rows that hold a pair, for each column, with which no prior on correlations is needed."""


class Prior(NamedTuple):
    """Strengths of the priors, in rows per component."""

    shrinkage: float  # κ
    collapse: float  # δ
    unrelated: float  # ν

    @classmethod
    def of(cls, strength: float, n_columns: int, fewest_together: float, tied: bool) -> "Prior":
        """Strengths from the number of rows that hold the rarest pair of columns.

        Less the rows that the means of components beyond the first take.
        """
        lacking = np.clip(ENOUGH_ROWS - fewest_together / n_columns, 0.0, 1.0)
        each = 0.0 if tied else strength * n_columns
        unrelated = strength * PAIR_ROWS * float(lacking)
        return cls(SHRINKAGE_ROWS * each, COLLAPSE_ROWS * each, unrelated)


def maximised(
    weights: Array,
    sums: tuple[Array, ...],
    before: FullParameters,
    prior: Prior,
    floor: Array,
    tied: bool,
) -> FullParameters:
    """The M-step of means and covariances, with the prior."""
    total, _, first, second = sums
    n, covariances = total[:, 0], before.covariances
    gone = n < VANISHED
    n = np.where(gone, VANISHED, n)  # no row is left of it: it stays as it was
    first, second = (
        np.where(gone.reshape(-1, *[1] * (x.ndim - 1)), 0.0, x) for x in (first, second)
    )
    step = np.einsum("kde,ke->kd", covariances, first) / n[:, None]
    scatter = n[:, None, None] * (covariances - step[:, :, None] * step[:, None, :])
    scatter = scatter + covariances @ second @ covariances
    scatter = (scatter + scatter.swapaxes(1, 2)) / 2
    after = replace(before, weights=weights, means=before.means + step)
    if tied:
        scatter, n, covariances = scatter.sum(0)[None], n.sum()[None], covariances[:1]
    priors = []
    if prior.collapse and len(n) > 1:
        priors.append(CovariancePrior.towards_harmonic_mean(covariances, prior.shrinkage))
        priors.append(CovariancePrior.about(common_covariance(covariances), prior.collapse))
    if prior.unrelated:
        priors.append(CovariancePrior.about(between_own_variances(covariances), prior.unrelated))
    if priors:
        both = reduce(CovariancePrior.times, priors)
        found = shrunk_covariances(scatter, n, both)
        above = lifted(found, floor)
        if above is not found:  # the highest place above the floor has no closed form then
            found = no_lower(above, covariances, scatter, n, both)
    else:
        found = lifted(scatter / n[:, None, None], floor)
    return replace(after, covariances=np.repeat(found, len(weights), axis=0) if tied else found)


def log_prior(parameters: FullParameters, prior: Prior, tied: bool) -> float:
    """The log-prior of covariances."""
    some = parameters.covariances[:1] if tied else parameters.covariances
    height = 0.0
    if prior.collapse and len(some) > 1:
        height += log_prior_of_shrinkage(some, prior.shrinkage)
        height += log_prior_of_covariances(some, prior.collapse)
    if prior.unrelated:
        height += log_prior_of_correlations(some, prior.unrelated)
    return height


def lifted(covariances: Array, floor: Array) -> Array:
    """The maximum of ``-log|Σ| - tr Σ⁻¹ S`` with all eigenvalues of Σ above F; S (k, d, d).

    F is diagonal, with ``floor`` (d,) on it. With ``F^-½ S F^-½ = U Λ U'`` that is
    ``F^½ U max(Λ, 1) U' F^½``. Each cell then has at least the variance F given all others of its
    row. A floor of zero holds for none of the features.
    """
    if not floor.any():
        return covariances
    try:
        np.linalg.cholesky(covariances - np.diag(floor))
    except np.linalg.LinAlgError:
        scale = np.sqrt(np.outer(floor, floor))
        values, vectors = np.linalg.eigh(covariances / scale)
        above = (vectors * np.maximum(values, 1.0)[:, None, :]) @ vectors.swapaxes(1, 2)
        found: Array = (above + above.swapaxes(1, 2)) / 2 * scale
        return found
    return covariances


@dataclass(frozen=True, eq=False, kw_only=True)
class FullNormal(CorrelatedNormal[FullParameters]):
    """``log p(x_o | k) = -½ ((x_o - μ_o)' Q (x_o - μ_o) + log|Σ_oo| + |o| log 2π)``.

    Z. Ghahramani, M. Jordan (1994), Supervised learning from incomplete data via an EM approach.
    """

    tied: bool
    fewest_together: float = np.inf  # rows of a table that hold a pair of columns, at least
    by_gaps: bool = True

    @property
    def regularised(self) -> bool:
        """Whether a prior keeps the covariances of components near each other."""
        return bool(self.strength) and not self.tied

    @property
    def axes(self) -> Mapping[str, str]:
        return {"covariances": "de" if self.tied else "kde"}

    def for_table(self, rows: Rows, kept: Survey) -> Self:
        """The same with bounds for means, and priors for the rarest pair of columns."""
        fewest = fewest_together(rows) if self.strength else np.inf
        return replace(
            self,
            outlier_limits=OutlierLimits.of(rows, kept, self.outliers),
            fewest_together=fewest,
        )

    def independent(self, weights: Array, means: Array, variances: Array) -> FullParameters:
        covariances = variances[:, :, None] * np.eye(means.shape[1])
        return FullParameters(weights=weights, means=means, covariances=covariances)

    def apart(self, alone: FullParameters, weights: Array, means: Array) -> FullParameters:
        left = within_components(alone.covariances[0], weights, means)
        covariances = np.repeat(left[None], len(means), axis=0)
        return self.within(replace(alone, weights=weights, means=means, covariances=covariances))

    def log_densities(self, block: Block, parameters: FullParameters) -> Array:
        block, alone = inside(block, parameters)
        found = self._per_row(DENSITIES, block, parameters)
        return found if alone is None else found + alone[:, None]

    def expect(self, parameters: FullParameters) -> Step:
        """The E-step on a block without outlying cells."""
        known = _known(parameters, self.tied)

        def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
            return _summed(EXPECT, block, log_weights, parameters, known)

        return step

    def given(self, block: Block, shares: Array, parameters: FullParameters) -> tuple[Array, ...]:
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
        """The log-prior of covariances.

        Without a prior the likelihood rises without end where a component shrinks to a point, so
        that such places are ruled out.
        """
        if not (self.strength or self.tied) and collapsed_covariances(parameters.covariances):
            return -np.inf
        return log_prior(parameters, self._prior_rows(parameters), self.tied)

    def maximise(
        self, weights: Array, sums: tuple[Array, ...], before: FullParameters
    ) -> FullParameters:
        """The M-step of means and covariances."""
        floor = self._floor(before)
        return maximised(weights, sums, before, self._prior_rows(before), floor, self.tied)

    def _prior_rows(self, parameters: FullParameters) -> Prior:
        k, d = parameters.means.shape
        # Means take a row each.
        return Prior.of(self.strength, d, self.fewest_together - (k - 1), self.tied)

    def _floor(self, parameters: FullParameters) -> Array:
        """The smallest conditional variance of a cell; (d,)."""
        within: Array = LEAST_WITHIN * parameters.weights @ parameters.variances
        if self.outlier_limits is None:
            return within
        return np.maximum(within, self.outlier_limits.floor(len(parameters.weights)))

    def within(self, parameters: FullParameters) -> FullParameters:
        """Means within their bounds, and conditional variances above their floor."""
        means = np.clip(parameters.means, *limits(self.outlier_limits))
        covariances = lifted(parameters.covariances, self._floor(parameters))
        return replace(parameters, means=means, covariances=covariances)

    def units(self, parameters: FullParameters) -> Mapping[str, Array]:
        return {"means": np.sqrt(parameters.variances)}

    def covariances(self, parameters: FullParameters) -> Array:
        return parameters.covariances

    def squares(self, block: Block, parameters: FullParameters) -> Array:
        return self._per_row(SQUARES, block, parameters)

    def expected(self, block: Block, shares: Array, parameters: FullParameters) -> Cells:
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
        block, _ = inside(block, parameters)
        rows, (covariances, precisions, _) = ByGaps.of(block), _known(parameters, self.tied)
        labels = labels[rows.order].astype(np.int64)
        drawn, out = self.draw(parameters, labels, random), np.empty(rows.values.shape)
        draws(rows.values, *rows[3:], labels, drawn, covariances, precisions, out)
        return rows.back(out)

    def draw(self, parameters: FullParameters, labels: Labels, random: Any) -> Array:
        rows: Array = random.standard_normal((len(labels), parameters.means.shape[1]))
        roots = np.linalg.cholesky(parameters.covariances)
        for k, root in enumerate(roots):
            own = labels == k
            rows[own] = parameters.means[k] + rows[own] @ root.T
        return rows


def _known(parameters: FullParameters, tied: bool) -> tuple[Array, Array, Array]:
    """Distinct covariances, their inverses and log determinants."""
    some = np.ascontiguousarray(parameters.covariances[:1] if tied else parameters.covariances)
    return some, np.ascontiguousarray(np.linalg.inv(some)), np.linalg.slogdet(some)[1]


def _summed(
    job: int,
    block: Block,
    shares: Array,
    parameters: FullParameters,
    known: tuple[Array, Array, Array],
) -> tuple[float, Array, tuple[Array, ...]]:
    """Sums of an E-step, with log weights (k,) or given ``shares`` (n, k)."""
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
