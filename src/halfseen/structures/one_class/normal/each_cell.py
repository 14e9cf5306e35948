"""Densities of single cells of Gaussian mixtures with outliers and spikes."""

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block
from halfseen.structures.one_class.normal import cells
from halfseen.structures.one_class.normal.emission import OUT_OF_SIGHT
from halfseen.structures.one_class.normal.parameters import MixtureParameters
from halfseen.structures.one_class.robust_cells import FARTHEST, WIDTH


def cell_log_densities(block: Block, parameters: MixtureParameters) -> Array:
    """``log p(x_d | k)`` of each observed cell, zero in the gaps; (k, n, d).

    Summed over the columns these are the densities of the rows.
    """
    found = _densities(block, parameters)
    if parameters.plain:
        rows = _far_rows(block, parameters)
        if len(rows):
            found[:, rows] = _densities(block.rows(rows), cells.doubting(parameters))
    return found


def _far_rows(block: Block, parameters: MixtureParameters) -> NDArray[np.intp]:
    """Rows further out than any that a mixture of normals alone was learned from."""
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
