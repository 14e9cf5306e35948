"""Densities of single cells of mixed columns, and how unlikely each is given its row."""

import numpy as np
from scipy.special import gammaln, logsumexp

from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block
from halfseen.structures.one_class.mixed.emission import Mixed, levels_of
from halfseen.structures.one_class.mixed.parameters import MixedParameters
from halfseen.structures.one_class.mixed.tables import LEAST_SHARE, log_table
from halfseen.structures.one_class.normal import each_cell


def cell_log_densities(block: Block, parameters: MixedParameters) -> Array:
    """``log p(x_d | k)`` of each observed cell, zero in the gaps; (k, n, d).

    Summed over the columns these are the densities of the rows, but for values that are in no
    table. Those say nothing of the component, so that they are as likely in each: as likely as a
    count is in all components together, or as little as any level can be.
    """
    found = np.zeros((len(parameters.weights), len(block), len(parameters.kinds)))
    numbers = parameters.numbers
    if numbers.any():
        part = block.select(numbers)
        found[:, :, numbers] = each_cell.cell_log_densities(part, parameters.of_numbers)
    if not numbers.all():
        levels = levels_of(parameters)
        places, table = levels.places(block), log_table(parameters, levels)
        listed = places >= 0
        own = np.where(listed[:, :, None], table[places * listed], 0.0)  # (m, n, k)
        found[:, :, ~numbers] = own.transpose(2, 1, 0)
        unlisted = np.zeros(block.observed.shape, dtype=bool)
        unlisted[:, ~numbers] = block.observed[:, ~numbers] & ~listed.T
        for d in np.flatnonzero(unlisted.any(axis=0)):
            rows = unlisted[:, d]
            found[:, rows, d] = _of_no_component(block.values[rows, d], parameters, int(d))
    return found


def _of_no_component(x: Array, parameters: MixedParameters, d: int) -> Array:
    """The log-density of values (n,) that are in no table, whatever the component; (n,)."""
    possible = parameters.counts[d] & (x >= 0) & (x == np.floor(x))
    if not possible.any():
        return np.full(len(x), np.log(LEAST_SHARE))
    rate, shape = parameters.rates[:, d], parameters.count_shapes[:, d]
    count = np.where(possible, x, 0.0)[:, None]
    own = gammaln(count + shape) - gammaln(shape) - gammaln(count + 1)
    own = own - shape * np.log1p(rate / shape) + count * np.log(rate / (shape + rate))
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
