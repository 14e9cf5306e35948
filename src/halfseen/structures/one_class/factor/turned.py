"""Factors to begin with, and factors turned to where the first explains most."""

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows

MOST_EXPLAINED = 0.9
"""Of a feature's variance, to begin with."""
FEWEST_ROWS = 1e-3


def first_factors(some: MemoryRows, mean: Array, spread: Array, n_factors: int) -> Array:
    """Loadings (d, q) of the leading directions of some rows, gaps being in the middle.

    Correlations of rows with gaps come out too small by how often cells are there; that is undone.
    """
    table = some.table if some.columns is None else some.table[:, some.columns]
    values = np.nan_to_num((table - mean) / spread)
    there = np.maximum(np.mean(~np.isnan(table), axis=0), FEWEST_ROWS)
    _, sizes, right = np.linalg.svd(values / np.sqrt(len(values)), full_matrices=False)
    found = np.zeros((len(mean), n_factors))
    some_factors = min(n_factors, len(sizes))
    noise = np.mean(sizes[some_factors:] ** 2) if some_factors < len(sizes) else 0.0
    strength = np.sqrt(np.maximum(sizes[:some_factors] ** 2 - noise, 1e-4))
    found[:, :some_factors] = (right[:some_factors].T * strength) / np.sqrt(there)[:, None]
    size = np.sum(found**2, axis=1)
    scale = np.sqrt(np.minimum(1.0, MOST_EXPLAINED / np.maximum(size, 1e-300)))
    loadings: Array = found * scale[:, None]
    return loadings


def turned(pattern: Array, own: Array) -> Array:
    """Loadings with ``Λ'ψ⁻¹Λ`` diagonal, largest first, each with its largest loading positive."""
    _, vectors = np.linalg.eigh((pattern.T / own) @ pattern)
    found = pattern @ vectors[:, ::-1]
    largest = found[np.abs(found).argmax(axis=0), np.arange(found.shape[1])]
    signed: Array = found * np.where(largest < 0, -1.0, 1.0)
    return signed
