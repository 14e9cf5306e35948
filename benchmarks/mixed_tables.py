"""Simulated tables of twelve mixed columns with gaps, and the truth behind them."""

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class World(NamedTuple):
    """Classes of four continuous columns, two counts, three of categories, three of two values."""

    weights: Array  # (k,)
    means: Array  # (k, 4)
    spreads: Array  # (k, 4)
    rates: Array  # (k, 2)
    shares: list[Array]  # (k, l) each
    chances: Array  # (k, 3)


def world(rng: np.random.Generator, k: int) -> World:
    """Classes that differ in every column, by chance."""
    return World(
        rng.dirichlet(np.full(k, 5.0)),
        rng.normal(scale=0.9, size=(k, 4)),
        rng.uniform(0.6, 1.5, size=(k, 4)),
        rng.gamma(3.0, 0.8, size=(k, 2)) + 0.2,
        [rng.dirichlet(np.full(n, 2.0), size=k) for n in (3, 4, 5)],
        rng.uniform(0.2, 0.8, size=(k, 3)),
    )


def draw(rng: np.random.Generator, truth: World, n: int) -> tuple[Array, Any]:
    """Rows (n, 12) without gaps, and their classes."""
    z = rng.choice(len(truth.weights), size=n, p=truth.weights)
    categories = [
        (shares[z].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1) for shares in truth.shares
    ]
    X = np.column_stack(
        [
            rng.normal(truth.means[z], truth.spreads[z]),
            rng.poisson(truth.rates[z]),
            *categories,
            rng.random((n, 3)) < truth.chances[z],
        ]
    )
    return X.astype(float), z


def with_gaps(rng: np.random.Generator, X: Array, least: float = 0.2) -> Array:
    """The same with each column observed in a share of rows between ``least`` and one."""
    observed = rng.uniform(least, 1.0, size=X.shape[1])
    return np.where(rng.random(X.shape) < observed, X, np.nan)


KINDS = {
    **dict.fromkeys(range(4), "continuous"),
    **dict.fromkeys((4, 5), "count"),
    **dict.fromkeys((6, 7, 8), "categorical"),
    **dict.fromkeys((9, 10, 11), "binary"),
}
