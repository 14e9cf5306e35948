"""Gaussian mixtures with outliers and spikes: their E-step and M-step."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.distributions.emission import Step, StepBeside
from halfseen.distributions.normal_kernels import Cells, expectation, log_densities
from halfseen.distributions.normal_parameters import MixtureParameters
from halfseen.moments.robust_statistics import Recorded

Shares = Callable[[Block], Array]
"""The components' shares in each row of a block; (n, k)."""
LEAST_OUTLIERS, MOST_OUTLIERS = 1e-4, 0.3
BEFORE = 1.0
"""Outliers that are taken to have been seen before, among as many cells as ``CELLS_BEFORE``."""
CELLS_BEFORE = 100.0
HALF_CELL = 0.5
"""Of the prior on how often a spike is held (Jeffreys'): a cell of each of two values, halved."""


def cells_of(parameters: MixtureParameters) -> Cells:
    """How cells arise."""
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
    """``log p(x | k)`` of what is observed in each row; (n, k)."""
    return log_densities(block, cells_of(parameters))


def expect(parameters: MixtureParameters) -> Step:
    """The E-step on a block."""
    cells = cells_of(parameters)

    def step(block: Block, log_weights: Array) -> tuple[float, Array, tuple[Array, ...]]:
        likelihood, share, *sums = expectation(block, cells)
        return likelihood, share, tuple(sums)

    return step


def expect_beside(parameters: MixtureParameters) -> StepBeside:
    """The E-step on a block of which other columns say something too."""
    cells = cells_of(parameters)

    def step(block: Block, known: Array) -> tuple[float, Array, tuple[Array, ...]]:
        shares = np.empty(known.shape)
        likelihood, _, *sums = expectation(block, cells, known, shares)
        return likelihood, shares, tuple(sums)

    return step


def given(
    block: Block, shares: Array, parameters: MixtureParameters, low: Array, high: Array
) -> tuple[Array, ...]:
    """What an E-step would sum if rows belonged to components by ``shares`` (n, k).

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
    """How many cells hold the spike in each component, with a prior; (k, d).

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
    """ε, from cells that may be outliers and those that are not, with a prior."""
    share = float((there - normal).sum()) + strength * BEFORE
    share /= max(float(there.sum()) + strength * CELLS_BEFORE, 1e-300)
    return float(np.clip(share, LEAST_OUTLIERS, MOST_OUTLIERS))


def prior(parameters: MixtureParameters) -> float:
    """What was taken to have been seen before, as a log-likelihood."""
    share, spikes = parameters.outlier_share, parameters.spike_shares
    height = BEFORE * math.log(share) + (CELLS_BEFORE - BEFORE) * math.log1p(-share)
    if not parameters.spiked:
        return height
    return float(height + HALF_CELL * np.nansum(np.log(spikes) + np.log1p(-spikes)))


def shown_means(
    rows: Rows, parameters: MixtureParameters, low: Array, high: Array, shares: Shares
) -> Array:
    """Means over what rows have of each component, values being clipped; (k, d).

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


def allowing(parameters: MixtureParameters, recorded: Recorded) -> MixtureParameters:
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


def doubting(parameters: MixtureParameters) -> MixtureParameters:
    """The same mixture with outliers that are possible, if only just."""
    if not np.isnan(parameters.spread).any():
        return replace(parameters, outlier_share=max(parameters.outlier_share, LEAST_OUTLIERS))
    # Of a model that was learned without: as wide as the mixture is.
    middle = parameters.weights @ parameters.centres
    apart = parameters.variances + (parameters.centres - middle) ** 2
    spread = np.sqrt(parameters.weights @ apart)
    return replace(parameters, outlier_share=LEAST_OUTLIERS, middle=middle, spread=spread)


def beside_spikes(block: Block, parameters: MixtureParameters) -> Array:
    """One where a cell is observed and has a distance to the centre; (n, d)."""
    measured = block.observed & (block.values != parameters.spike) & np.isnan(parameters.other)
    ones: Array = measured.astype(float)
    return ones
