"""Mixtures of normals to compare on: tables, parameters, and how likely rows are under them.

The judge is a plain sum of densities, block by block, and nobody's own ``score``.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from halfseen.data.arrays import Array

BLOCK = 50_000


class Mixture(NamedTuple):
    """What an entrant learned, or the truth."""

    weights: Array  # (k,)
    means: Array  # (k, d)
    variances: Array  # (k, d), or (k, d, d) where columns go along with each other


class Table(NamedTuple):
    """Rows, with gaps or without, how many components there are, and of which kind."""

    X: Array  # (n, d)
    k: int
    kind: str


def drawn(
    rows: int,
    columns: int,
    components: int,
    kind: str,
    gaps: float,
    apart: float,
    seed: int,
) -> Table:
    """Components whose means are ``apart`` spreads from each other, of the kind asked for."""
    rng = np.random.default_rng([seed, columns, components])
    weights = rng.dirichlet(np.full(components, 5.0))
    # As far from each other whatever the number of columns.
    scale = apart / np.sqrt(2 * columns)
    means = rng.normal(scale=scale, size=(components, columns))
    shape = (components, 1) if kind == "spherical" else (components, columns)
    spreads = rng.uniform(0.7, 1.4, size=shape)
    X = np.empty((rows, columns))
    for block in _blocks(rows):
        z = rng.choice(components, size=block.stop - block.start, p=weights)
        noise = rng.standard_normal((len(z), columns))
        if kind == "full":  # one factor that all columns share
            noise = 0.8 * noise + 0.6 * rng.standard_normal((len(z), 1))
        X[block] = means[z] + spreads[z] * noise
        if gaps:
            X[block][rng.random((len(z), columns)) < gaps] = np.nan
    return Table(X, components, kind)


def loss(X: Array, found: Mixture) -> float:
    """Nats a row, minus the mean log-likelihood of what is observed."""
    total = sum(float(_heights(X[block], found).sum()) for block in _blocks(len(X)))
    return -total / len(X)


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, rows)) for start in range(0, rows, BLOCK))


def _heights(X: Array, found: Mixture) -> Array:
    parts = [
        np.log(weight) + (_along(X, mean, one) if one.ndim == 2 else _apart(X, mean, one))
        for weight, mean, one in zip(*found, strict=True)
    ]
    heights: Array = logsumexp(np.stack(parts), axis=0)
    return heights


def _apart(X: Array, mean: Array, variances: Array) -> Array:
    """Of independent columns, gaps telling nothing."""
    cells = (X - mean) ** 2 / variances + np.log(2 * np.pi * variances)
    heights: Array = -0.5 * np.nansum(cells, axis=1)
    return heights


def _along(X: Array, mean: Array, covariance: Array) -> Array:
    """Of whole rows."""
    root = np.linalg.cholesky(covariance)
    away = solve_triangular(root, (X - mean).T, lower=True)
    fixed = X.shape[1] * np.log(2 * np.pi) + 2 * np.log(np.diag(root)).sum()
    heights: Array = -0.5 * ((away**2).sum(axis=0) + fixed)
    return heights
