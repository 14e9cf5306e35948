"""Probabilities of all values of columns of few values, and how they are learned."""

from dataclasses import replace

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.structures.one_class.mixed import negative_binomial
from halfseen.structures.one_class.mixed.levels import Levels
from halfseen.structures.one_class.mixed.parameters import MixedParameters

LEAST_SHARE = 1e-12
"""No value is impossible: a single cell would then decide the component of its row."""


def log_table(parameters: MixedParameters, levels: Levels) -> Array:
    """The logarithm of each entry's probability in each component; (size, k). Made once."""
    kept = vars(parameters).get("log_table")
    if kept is None or kept[0] is not levels:
        kept = vars(parameters)["log_table"] = levels, _log_table(parameters, levels)
    table: Array = kept[1]
    return table


def _log_table(parameters: MixedParameters, levels: Levels) -> Array:
    found = np.empty((levels.size, len(parameters.weights)))
    found[levels.entries] = np.log(parameters.level_shares[levels.place, :, levels.column])
    for d, part in levels.counted:
        rate, shape = parameters.rates[:, d], parameters.count_shapes[:, d]
        n = part.stop - part.start
        found[part] = negative_binomial.log_probabilities(n, rate, shape)
    return found


def maximised(before: MixedParameters, levels: Levels, histograms: Array) -> MixedParameters:
    """The likeliest probabilities, from how often values are there in each component (k, size)."""
    shares, rates, shapes = before.level_shares, before.rates, before.count_shapes
    if len(levels.entries):
        own = histograms.T[levels.entries]  # (entries, k)
        total = np.add.reduceat(own, levels.firsts)[levels.of_first]
        shares = shares.copy()
        was = shares[levels.place, :, levels.column]
        found = np.divide(own, total, out=was, where=total > 0)
        shares[levels.place, :, levels.column] = np.maximum(found, LEAST_SHARE)
    if levels.counted:
        rates, shapes = rates.copy(), shapes.copy()
        for d, part in levels.counted:
            rates[:, d], shapes[:, d] = negative_binomial.fitted(histograms[:, part], shapes[:, d])
    return replace(before, level_shares=shares, rates=rates, count_shapes=shapes)


def within(parameters: MixedParameters) -> MixedParameters:
    """Shares that sum to one, and rates that can be."""
    shares = np.maximum(parameters.level_shares, LEAST_SHARE)
    total = np.nansum(shares, axis=0)
    rates = np.clip(parameters.rates, negative_binomial.LEAST_RATE, parameters.most_counts + 1)
    return replace(parameters, level_shares=shares / np.where(total > 0, total, 1.0), rates=rates)


def means(parameters: MixedParameters) -> Array:
    """Of all columns in each component, levels being the numbers that they are; (k, d)."""
    of_levels = np.nansum(parameters.level_shares * parameters.level_values[:, None], axis=0)
    found = np.where(parameters.counts, parameters.rates, parameters.means)
    return np.where(parameters.of_levels, of_levels, found)


def variances(parameters: MixedParameters, of_numbers: Array) -> Array:
    """Of all columns in each component, given those of the continuous ones (k, d); (k, d)."""
    values = parameters.level_values[:, None]
    mean = np.nansum(parameters.level_shares * values, axis=0)
    square = np.nansum(parameters.level_shares * (values - mean) ** 2, axis=0)
    counted = negative_binomial.variances(parameters.rates, parameters.count_shapes)
    found = np.where(parameters.counts, counted, of_numbers)
    return np.where(parameters.of_levels, np.maximum(square, 1e-12), found)


def likeliest(parameters: MixedParameters, shares: Array) -> tuple[Array, Array]:
    """The likeliest value of columns of levels given components' ``shares`` (n, k); (n, d).

    And how likely it is.
    """
    nothing = np.full((len(shares), len(parameters.kinds)), np.nan)
    values, chances = nothing, nothing.copy()
    for d in np.flatnonzero(parameters.of_levels):
        chance = chances_of(parameters, shares, int(d))
        place = chance.argmax(axis=1)
        values[:, d] = parameters.level_values[place, d]
        chances[:, d] = np.minimum(chance.max(axis=1), 1.0)
    return values, chances


def chances_of(parameters: MixedParameters, shares: Array, d: int) -> Array:
    """How likely each value of a column of levels is, given components' ``shares``; (n, l)."""
    n = int(np.isfinite(parameters.level_values[:, d]).sum())
    found: Array = shares @ parameters.level_shares[:n, :, d].T
    return found
