"""Densities of single cells of mixed columns, and their surprisal."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from halfseen.data.arrays import Array
from halfseen.data.rows import Block
from halfseen.distributions import mean_and_shape, normal_em
from halfseen.distributions.categorical import LEAST_SHARE, log_table
from halfseen.distributions.mixed import Mixed, levels_of
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.distributions.negative_binomial import log_density
from halfseen.distributions.normal import OUT_OF_SIGHT
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.distributions.normal_kernels import FARTHEST, WIDTH


def cell_log_densities(block: Block, parameters: MixedParameters) -> Array:
    """``log p(x_d | k)`` of each observed cell, zero in the gaps; (k, n, d).

    Summed over the columns these are the densities of the rows, but for values that are in no
    table. Those say nothing of the component, so that they are as likely in each: as likely as a
    count is in all components together, or as little as any level can be.
    """
    found = np.zeros((len(parameters.weights), len(block), len(parameters.kinds)))
    numbers, tabulated = parameters.numbers, parameters.tabulated
    if numbers.any():
        part = block.select(numbers)
        found[:, :, numbers] = normal_cell_log_densities(part, parameters.of_numbers)
    if tabulated.any():
        levels = levels_of(parameters)
        places, table = levels.places(block), log_table(parameters, levels)
        listed = places >= 0
        own = np.where(listed[:, :, None], table[places * listed], 0.0)  # (m, n, k)
        found[:, :, tabulated] = own.transpose(2, 1, 0)
        unlisted = np.zeros(block.observed.shape, dtype=bool)
        unlisted[:, tabulated] = block.observed[:, tabulated] & ~listed.T
        for d in np.flatnonzero(unlisted.any(axis=0)):
            rows = unlisted[:, d]
            found[:, rows, d] = _of_no_component(block.values[rows, d], parameters, int(d))
    mean_and_shape.cell_log_densities(block, parameters, found)
    return found


def _of_no_component(x: Array, parameters: MixedParameters, d: int) -> Array:
    """The log-density of values (n,) under the outlier background."""
    possible = parameters.with_shapes[d] & (x >= 0) & (x == np.floor(x))
    if not possible.any():
        return np.full(len(x), np.log(LEAST_SHARE))
    count = np.where(possible, x, 0.0)[:, None]
    own = log_density(count, parameters.rates[:, d], parameters.count_shapes[:, d])
    together = logsumexp(own + np.log(parameters.weights), axis=1)
    return np.where(possible, together, np.log(LEAST_SHARE))


def surprisal(block: Block, emission: Mixed, parameters: MixedParameters) -> Array:
    """``-log p(x_d | all other cells of the row)`` of each cell, NaN in the gaps; (n, d).

    A row's components without one of its columns are had by taking that column's density away:
    ``p(x_d | x_-d) = Σ_k π_k p_k(x) / Σ_k π_k p_k(x_-d)``.
    """
    densities = emission.log_densities(block, parameters)
    joint = (densities + np.log(parameters.weights)).T  # (k, n)
    others = joint[:, :, None] - cell_log_densities(block, parameters)
    found = logsumexp(others, axis=0) - logsumexp(joint, axis=0)[:, None]
    return np.where(block.observed, found, np.nan)


def normal_cell_log_densities(block: Block, parameters: MixtureParameters) -> Array:
    """``log p(x_d | k)`` of each observed cell, zero in the gaps; (k, n, d).

    Summed over the columns these are the densities of the rows.
    """
    found = _densities(block, parameters)
    if parameters.plain:
        rows = _far_rows(block, parameters)
        if len(rows):
            found[:, rows] = _densities(
                block.rows(rows), normal_em.with_possible_outliers(parameters)
            )
    return found


def _far_rows(block: Block, parameters: MixtureParameters) -> NDArray[np.intp]:
    """Rows further from all components than any row of the fit."""
    with np.errstate(invalid="ignore"):
        far = np.abs(block.values - parameters.middle) > OUT_OF_SIGHT * parameters.spread
    return np.flatnonzero((far & block.observed).any(axis=1))


def _densities(block: Block, parameters: MixtureParameters) -> Array:
    centres, variances = parameters.centres[:, None], parameters.variances[:, None]
    x = block.values
    reach = FARTHEST * np.sqrt(variances)
    apart = np.clip(x - centres, -reach, reach) ** 2 / variances
    found = -0.5 * (apart + np.log(2 * np.pi * variances))
    if not parameters.plain:
        found = _with_outliers(found, x, parameters)
    if parameters.spiked:
        found = _with_spikes(found, x, parameters)
    everywhere: Array = np.where(block.observed, found, 0.0)
    return everywhere


def _with_outliers(normal: Array, x: Array, parameters: MixtureParameters) -> Array:
    """``log((1-ε) N + ε g)``; of columns of two values only the background is left."""
    half = WIDTH * parameters.spread
    far = FARTHEST * parameters.spread
    z = np.clip(x - parameters.middle, -far, far) / half
    background = np.log(parameters.outlier_share) - np.log(np.pi * half * (1 + z**2))
    both = np.logaddexp(np.log1p(-parameters.outlier_share) + normal, background)
    found: Array = np.where(np.isnan(parameters.other), both, background)
    return found


def _with_spikes(beside: Array, x: Array, parameters: MixtureParameters) -> Array:
    """Values that many cells hold exactly have a probability rather than a density."""
    share, spike, other = parameters.spike_shares[:, None], parameters.spike, parameters.other
    two = ~np.isnan(other)
    left = np.where(two, np.log1p(-parameters.outlier_share), 0.0)
    found = np.where(np.isnan(spike) | two, beside, beside + np.log1p(-share))
    found = np.where(x == spike, left + np.log(share), found)
    return np.where(x == other, left + np.log1p(-share), found)
