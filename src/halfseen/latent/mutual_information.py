"""Mutual information of columns with the component, and with each other.

    I(x_d; z) = Σ_x Σ_k π_k p_k(x) log(p_k(x) / p(x)),   p = Σ_k π_k p_k
    I(x_i; x_j) = Σ_x Σ_y p(x, y) log(p(x, y) / (p(x) p(y))),   p(x, y) = Σ_k π_k p_k(x) p_k(y)

Each column is cut into cells, of which components have known masses: its levels, its counts
(large ones together), and narrow intervals of numbers beside their spikes. For levels and small
counts the sums are exact; intervals of an eighth of a spread lose less than a hundredth of what
numbers tell.
"""

import numpy as np
from scipy.special import xlogy

from halfseen.data.arrays import Array
from halfseen.distributions.column_kinds import kind_of
from halfseen.distributions.mixed_parameters import MixedParameters

FEWEST_CELLS, CELLS_A_COMPONENT = 64, 24
"""Into which columns are cut for pairs of them."""


def class_entropy(weights: Array) -> float:
    """Entropy of the component, in nats."""
    return float(-xlogy(weights, weights).sum())


def of_class(parameters: MixedParameters, home: MixedParameters | None = None) -> Array:
    """Mutual information of each column and the component, in nats; (d,).

    Columns are cut where ``home`` would have them cut, so that replicates differ by what they say.
    Gaps that tell are part of what a column tells.
    """
    where = parameters if home is None else home
    columns = range(len(parameters.kinds))
    found = [_of_class(_masses(parameters, d, where), parameters.weights) for d in columns]
    return np.array(found)


def _of_class(masses: Array, weights: Array) -> float:
    together = masses @ weights
    nats = xlogy(masses, masses) @ weights - xlogy(together, together)
    return max(float(nats.sum()), 0.0)


def of_pairs(parameters: MixedParameters) -> Array:
    """Mutual information of each pair of columns, NaN on the diagonal; (d, d)."""
    weights, d = parameters.weights, len(parameters.kinds)
    cut = [_merged(_masses(parameters, i, parameters)) for i in range(d)]
    every = np.vstack(cut)
    starts = np.cumsum([0, *(len(one) for one in cut)])[:-1]
    alone = every @ weights
    entropy = np.add.reduceat(-xlogy(alone, alone), starts)
    found = np.empty((d, d))
    for i, masses in enumerate(cut):
        joint = (masses * weights) @ every.T  # (cells of i, all cells)
        both = np.add.reduceat(-xlogy(joint, joint).sum(axis=0), starts)
        found[i] = entropy[i] + entropy - both
    found = np.maximum((found + found.T) / 2, 0.0)
    np.fill_diagonal(found, np.nan)
    return found


def _merged(masses: Array) -> Array:
    most = max(FEWEST_CELLS, CELLS_A_COMPONENT * masses.shape[1])
    if len(masses) <= most:
        return masses
    below = np.cumsum(masses.mean(axis=1))
    group = np.floor((below - masses.mean(axis=1) / 2) * most)
    first = np.flatnonzero(np.diff(group, prepend=-1.0))
    merged: Array = np.add.reduceat(masses, first, axis=0)
    return merged


def _masses(parameters: MixedParameters, d: int, home: MixedParameters) -> Array:
    masses = kind_of(parameters.kinds[d]).masses(parameters, d, home)
    chance = parameters.presence[:, d]
    if np.isnan(chance).any():
        return masses
    return np.vstack([masses * chance, 1 - chance])
