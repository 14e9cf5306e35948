"""EM of independent normal columns: parameters, steps and scores."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, softmax

from halfseen.data.arrays import Array
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block, Rows
from halfseen.distributions.emission import RowScores, Step, StepBeside, with_pseudo_row
from halfseen.distributions.normal_kernels import (
    Cells,
    expectation,
    log_densities,
    outlier_probability,
)
from halfseen.inference.parameters import (
    ANY,
    BEHIND,
    BESIDE,
    FRACTION,
    GIVEN,
    POSITIVE,
    SHARE,
    SHOWN,
    learned,
    reordered,
)
from halfseen.moments.robust_statistics import RobustSummary

NOT_GIVEN: Any = None


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """``x | component k ~ N(c_k, diag(σ²_k))`` with probability π_k.

    Beside that there may be outliers and spikes, as in
    :mod:`halfseen.distributions.normal_kernels`. Without them means are where the normals are.
    """

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned(  # of all that is not an outlier
        "means_", "kd", ANY, role=SHOWN, values=("spike", "other")
    )
    variances: Array = learned("covariances_", ("", "k", "d", "kd"), POSITIVE, 0.0)  # σ², (k, d)
    centres: Array = learned("centres_", "kd", ANY, role=BEHIND, default=NOT_GIVEN)
    spike_shares: Array = learned(
        "spike_shares_", "kd", FRACTION, np.nan, BESIDE, "spike", default=NOT_GIVEN
    )
    outlier_share: float = learned("outlier_share_", "", FRACTION, role=GIVEN, default=0.0)
    middle: Array = learned("typical_values_", "d", ANY, np.nan, GIVEN, "spread", default=NOT_GIVEN)
    spread: Array = learned(
        "typical_spreads_", "d", POSITIVE, np.nan, GIVEN, "middle", default=NOT_GIVEN
    )
    spike: Array = learned("spike_values_", "d", ANY, np.nan, GIVEN, default=NOT_GIVEN)
    other: Array = learned("second_values_", "d", ANY, np.nan, GIVEN, "spike", default=NOT_GIVEN)

    def __post_init__(self) -> None:
        if self.other is not NOT_GIVEN:  # all are
            return
        nothing = np.full(self.means.shape, np.nan)
        usual = {"centres": self.means, "spike_shares": nothing}
        usual |= dict.fromkeys(("middle", "spread", "spike", "other"), nothing[0])
        for name, value in usual.items():
            if getattr(self, name) is NOT_GIVEN:
                object.__setattr__(self, name, value)

    @property
    def plain(self) -> bool:
        """Whether there are neither outliers nor spikes."""
        return self.outlier_share == 0

    @property
    def spiked(self) -> bool:
        """Whether a feature has a spike."""
        return not math.isnan(np.fmax.reduce(self.spike))


def variances_with_spikes(parameters: MixtureParameters) -> Array:
    """Variances within components, spikes included; (k, d)."""
    if np.isnan(parameters.spike).all():
        return parameters.variances
    share, rest = parameters.spike_shares, ~np.isnan(parameters.other)
    variance = np.where(rest, 0.0, parameters.variances)
    centre = np.where(rest, parameters.other, beside_the_spike(parameters))
    apart = share * (1 - share) * (parameters.spike - centre) ** 2
    both = (1 - share) * variance + apart
    return np.where(np.isnan(parameters.spike), parameters.variances, both)


def beside_the_spike(parameters: MixtureParameters) -> Array:
    """Centres of values that are not the spike, from the shown means; (k, d).

    Under a skewed column that is not the centre: what is drawn has the means that are claimed.
    """
    spiked = ~np.isnan(parameters.spike)
    share = np.where(spiked, np.nan_to_num(parameters.spike_shares), 0.0)
    at_spike = share * np.nan_to_num(parameters.spike)
    beside: Array = (parameters.means - at_spike) / (1 - share)
    return beside


# Their E-step and M-step, with outliers and spikes.

Shares = Callable[[Block], Array]
"""The components' shares in each row of a block; (n, k)."""
LEAST_OUTLIERS, MOST_OUTLIERS = 1e-4, 0.3
BEFORE = 1.0
"""Outliers that are taken to have been seen before, among as many cells as ``CELLS_BEFORE``."""
CELLS_BEFORE = 100.0
HALF_CELL = 0.5
"""Of the prior on how often a spike is held (Jeffreys'): a cell of each of two values, halved."""


def cells_of(parameters: MixtureParameters) -> Cells:
    """The distribution of cells."""
    return Cells(
        np.log(parameters.weights),
        parameters.centres,
        parameters.variances,
        parameters.spike_shares,
        parameters.outlier_share,
        parameters.middle,
        parameters.spread,
        parameters.spike,
        parameters.other,
    )


def densities(block: Block, parameters: MixtureParameters) -> Array:
    """``log p(x | k)`` of observed cells of each row; (n, k)."""
    return log_densities(block, cells_of(parameters))


def expect(parameters: MixtureParameters) -> Step:
    """The E-step on a block."""
    cells = cells_of(parameters)

    def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
        likelihood, share, *sums = expectation(block, cells)
        return likelihood, share, tuple(sums)

    return step


def expect_beside(parameters: MixtureParameters) -> StepBeside:
    """The E-step on a block, with log-densities of other columns."""
    cells = cells_of(parameters)

    def step(block: Block, known: Array) -> tuple[float, Array, tuple[Array, ...]]:
        shares = np.empty(known.shape)
        likelihood, _, *sums = expectation(block, cells, known, shares)
        return likelihood, shares, tuple(sums)

    return step


def given(
    block: Block, shares: Array, parameters: MixtureParameters, low: Array, high: Array
) -> tuple[Array, ...]:
    """The sums of an E-step with given responsibilities ``shares`` (n, k).

    What is between ``low`` and ``high`` (d,) is normal.
    """
    values, there = block.values, block.observed
    at_spike = there & (values == parameters.spike)
    hurdle = ~np.isnan(parameters.spike) & np.isnan(parameters.other)
    beside = there & ~(at_spike & hurdle)
    known = np.isnan(parameters.other) | at_spike | (values == parameters.other)
    normal = beside & known & (values >= low) & (values <= high)
    first = np.empty((2, *parameters.centres.shape))
    for k, share in enumerate(shares.T):
        deviation = np.where(normal, values - parameters.centres[k], 0.0)
        first[0, k], first[1, k] = share @ deviation, share @ deviation**2
    counts = [shares.T @ each for each in (beside, normal)]
    return (*counts, *first, shares.T @ at_spike)


def spike_shares(
    spike: Array, there: Array, normal: Array, parameters: MixtureParameters, strength: float
) -> Array:
    """The share of spikes in each component, with a prior; (k, d).

    What is neither of two values is an outlier, and says nothing.
    """
    if not parameters.spiked:
        return parameters.spike_shares
    count = np.where(np.isnan(parameters.other), there + spike, normal)
    half = HALF_CELL * strength
    share = (spike + half) / np.maximum(count + 2 * half, 1e-300)
    share = np.where(count + 2 * half > 0, share, parameters.spike_shares)
    return np.where(np.isnan(parameters.spike), np.nan, np.clip(share, 1e-12, 1 - 1e-12))


def outlier_share(there: Array, normal: Array, strength: float) -> float:
    """The outlier share ε, with a prior."""
    share = float((there - normal).sum()) + strength * BEFORE
    share /= max(float(there.sum()) + strength * CELLS_BEFORE, 1e-300)
    return float(np.clip(share, LEAST_OUTLIERS, MOST_OUTLIERS))


def prior(parameters: MixtureParameters) -> float:
    """The log-prior."""
    share, spikes = parameters.outlier_share, parameters.spike_shares
    height = BEFORE * math.log(share) + (CELLS_BEFORE - BEFORE) * math.log1p(-share)
    if not parameters.spiked:
        return height
    return float(height + HALF_CELL * np.nansum(np.log(spikes) + np.log1p(-spikes)))


def shown_means(
    rows: Rows, parameters: MixtureParameters, low: Array, high: Array, shares: Shares
) -> Array:
    """Means of clipped values, weighted by responsibilities; (k, d).

    Under a skewed column these are right where centres are not. What no row says stays.
    """
    low = np.fmin(low, np.fmin(parameters.spike, parameters.other))
    high = np.fmax(high, np.fmax(parameters.spike, parameters.other))

    def summarise(block: Block) -> Array:
        weighed = block.weighed(shares(block))
        clipped = np.clip(block.values, low, high) * block.observed
        sums: Array = np.stack([weighed.T @ clipped, weighed.T @ block.observed])
        return sums

    total, count = rows.accumulate(summarise)
    means: Array = np.divide(total, count, out=parameters.centres.copy(), where=count > 1e-10)
    return means


def with_outliers(parameters: MixtureParameters, recorded: RobustSummary) -> MixtureParameters:
    """The same mixture, allowing for outliers and spikes."""
    spiked = np.isnan(recorded.spike)
    return replace(
        parameters,
        spike_shares=np.where(spiked, np.nan, np.full(parameters.means.shape, 0.5)),
        outlier_share=0.01,
        middle=recorded.middle,
        spread=recorded.spread,
        spike=recorded.spike,
        other=recorded.other,
    )


def with_possible_outliers(parameters: MixtureParameters) -> MixtureParameters:
    """The same mixture with outliers that are possible, if only just."""
    if not np.isnan(parameters.spread).any():
        return replace(parameters, outlier_share=max(parameters.outlier_share, LEAST_OUTLIERS))
    # Of a model that was learned without: as wide as the mixture is.
    middle = parameters.weights @ parameters.centres
    apart = parameters.variances + (parameters.centres - middle) ** 2
    spread = np.sqrt(parameters.weights @ apart)
    return replace(parameters, outlier_share=LEAST_OUTLIERS, middle=middle, spread=spread)


def beside_spikes(block: Block, parameters: MixtureParameters) -> Array:
    """One where a cell is observed and is not a spike; (n, d)."""
    measured = block.observed & (block.values != parameters.spike) & np.isnan(parameters.other)
    ones: Array = measured.astype(float)
    return ones


# Their free numbers in one vector, and how rows pull at them.

FAR = 50.0
"""Of a log variance: a component on a point has no maximum, and a step from there no end."""


@dataclass(frozen=True, eq=False)
class FreeNormal:
    """Free parameters: log weights, centres, log variances and log odds of spikes.

    Shares are a softmax, so that moving all their logarithms alike moves nothing. How many
    outliers there are stays.
    """

    start: MixtureParameters
    labels: NDArray[np.intp]  # (k, d)  which log variance each one is

    @property
    def size(self) -> int:
        k, d = self.labels.shape
        return int(k + k * d + self.n_variances + k * len(self.spiked))

    @property
    def n_variances(self) -> int:
        """The number of distinct variances."""
        return int(self.labels.max()) + 1

    @property
    def spiked(self) -> NDArray[np.intp]:
        """Features with a spike."""
        return np.flatnonzero(~np.isnan(self.start.spike))

    @property
    def probabilities(self) -> NDArray[np.intp]:
        return np.arange(self.size - len(self.labels) * len(self.spiked), self.size)

    def away_from_edges(self, seen: FeatureSums) -> MixtureParameters:
        start, n_rows = self.start, np.outer(self.start.weights, seen.count)
        shares = with_pseudo_row(np.array([start.spike_shares, 1 - start.spike_shares]), n_rows)[0]
        of_two = start.other + shares * (start.spike - start.other)
        means = np.where(np.isnan(of_two), start.means, of_two)
        return replace(start, spike_shares=shares, means=means)

    def moved(self, step: Array) -> MixtureParameters:
        (k, d), start, spiked = self.labels.shape, self.start, self.spiked
        ends = np.cumsum([k, k * d, self.n_variances])
        of_weights, of_centres, of_variances, of_odds = np.split(step, ends)
        shift = of_centres.reshape(k, d)
        before = np.nan_to_num(start.spike_shares)
        after = before.copy()
        after[:, spiked] = expit(logit(before[:, spiked]) + of_odds.reshape(k, -1))
        rest = np.where(np.isnan(start.other), start.centres + shift, start.other)
        more = (after - before) * np.nan_to_num(start.spike - rest)
        still = np.where(np.isnan(start.other), 1.0 - before, 0.0)
        return replace(
            start,
            weights=softmax(np.log(start.weights) + of_weights),
            means=start.means + still * shift + more,
            centres=start.centres + shift,
            variances=start.variances * np.exp(np.clip(of_variances, -FAR, FAR))[self.labels],
            spike_shares=np.where(np.isnan(start.spike), np.nan, after),
        )

    def row_scores(self, block: Block, component: int) -> RowScores:
        """Slopes along the centre, the log variances and the odds of a component.

        Of a cell that is normal with probability t, slopes u and curvature B are ``t u`` and
        ``t B + t (1-t) u u'``.
        """
        (k, d), start, spiked = self.labels.shape, self.start, self.spiked
        own, place = np.unique(self.labels[component], return_inverse=True)
        shared = np.eye(len(own))[place.reshape(-1)]  # (d, s)  which features share a variance
        first = k + k * d + self.n_variances
        odds = first + component * len(spiked) + np.arange(len(spiked))
        where = np.concatenate([k + component * d + np.arange(d), k + k * d + own, odds])
        normal = self._normal(block, component)
        deviation = block.about(start.centres[component])
        precision = 1 / start.variances[component]
        of_centre = deviation * precision
        squares = deviation * of_centre
        of_variance = 0.5 * (squares - 1.0)
        known = np.isnan(start.other) | (block.values == start.spike)
        known = (known | (block.values == start.other)) & block.observed  # others are outliers
        at_spike = (block.values == start.spike)[:, spiked] & block.observed[:, spiked]
        seen, share = known[:, spiked], start.spike_shares[component, spiked]
        slope = np.hstack(
            [normal * of_centre, (normal * of_variance) @ shared, at_spike - seen * share]
        )
        doubt = normal * (1 - normal)

        def information(weight: Array) -> Array:
            whole = np.zeros((len(where), len(where)))
            centre, variance = slice(0, d), slice(d, d + len(own))
            whole[centre, centre] = np.diag(weight @ (normal * precision - doubt * of_centre**2))
            apart = weight @ (0.5 * normal * squares - doubt * of_variance**2)
            whole[variance, variance] = (shared.T * apart) @ shared
            both = weight @ (normal * of_centre - doubt * of_centre * of_variance)
            whole[centre, variance] = both[:, None] * shared
            whole[variance, centre] = whole[centre, variance].T
            last = np.arange(d + len(own), len(where))
            whole[last, last] = (weight @ seen) * share * (1 - share)
            return whole

        return RowScores(where, slope, information)

    def _normal(self, block: Block, component: int) -> Array:
        """The probability that each cell is from the component's normal; (n, d)."""
        if self.start.plain:
            return block.observed.astype(float)
        one = reordered(self.start, [component])
        normal: Array = beside_spikes(block, one) * (
            1.0 - outlier_probability(block, cells_of(one))[0]
        )
        return normal
