"""Odd tables: small, so that there are many, and every way in which tables are odd is drawn."""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfseen.data.arrays import Array, Mask

Rng = np.random.Generator
N_PLAIN = 2
"""The first kinds of columns, of which there is something to learn as a rule."""
FILL_VALUE = 9.969209968386869e36
"""What netCDF writes where nothing is known."""


def draw(rng: Rng, counts: bool) -> Array:
    """A table (n, d) of floats, with NaN for gaps; ``counts`` says which kind is wanted mostly."""
    n, d = _shape(rng)
    kinds = COUNTS if counts and rng.random() < 0.98 else MEASUREMENTS
    plain, every = list(kinds)[:N_PLAIN], list(kinds)
    usual = rng.choice(plain if rng.random() < 0.7 else every)
    columns = [kinds[usual if rng.random() < 0.7 else rng.choice(every)](rng, n) for _ in range(d)]
    table = np.column_stack(columns) if d else np.empty((n, 0))
    if d and n:
        table = _scaled(rng, table, counts)
        table = _related(rng, table)
        table = _with_gaps(rng, table)
    return table


def _shape(rng: Rng) -> tuple[int, int]:
    chance = rng.random()
    if chance < 0.01:
        return int(rng.integers(0, 3)), int(rng.integers(0, 3))
    if chance < 0.02:
        return int(rng.integers(100, 250)), int(rng.integers(1, 8))
    if chance < 0.025:
        return int(rng.integers(2, 12)), int(rng.integers(10, 40))
    return int(np.exp(rng.uniform(np.log(3), np.log(60)))), int(rng.integers(1, 7))


def _groups(rng: Rng, n: int) -> Any:
    """Two groups of rows, the same for all columns of a table but for the order."""
    return np.where(np.arange(n) % 2 == 0, 0.0, rng.choice([0.0, 3.0, 8.0])) + rng.normal(size=n)


def _rare(rng: Rng, n: int) -> Any:
    return (rng.random(n) < rng.choice([0.01, 0.05, 0.1, 0.5])).astype(float)


def _spiked(rng: Rng, n: int) -> Any:
    return np.where(rng.random(n) < rng.uniform(0.2, 0.9), 0.0, rng.exponential(size=n))


def _wild(rng: Rng, n: int) -> Any:
    wild = rng.choice([900.0, -999.0, 1e6, 1e12, FILL_VALUE])
    return np.where(rng.random(n) < 0.1, wild, rng.normal(size=n))


def _mixed_counts(rng: Rng, n: int) -> Any:
    rates = rng.choice([0.05, 0.5, 3.0, 40.0]) * rng.gamma(rng.choice([0.1, 1.0, 30.0]), size=n)
    return rng.poisson(rates).astype(float)


MEASUREMENTS: dict[str, Callable[[Rng, int], Any]] = {
    "groups": _groups,
    "normal": lambda rng, n: rng.normal(size=n),
    "skewed": lambda rng, n: rng.lognormal(sigma=rng.choice([0.5, 3.0]), size=n),
    "heavy": lambda rng, n: rng.standard_cauchy(size=n),
    "rare": _rare,
    "spiked": _spiked,
    "wild": _wild,
    "constant": lambda rng, n: np.full(n, rng.choice([0.0, 1.0, -7.5, 1e9])),
    "nearly constant": lambda rng, n: 1.0 + rng.choice([1e-9, 1e-13, 1e-16]) * rng.normal(size=n),
    "whole": lambda rng, n: rng.integers(-3, 4, size=n).astype(float),
    "one that differs": lambda rng, n: (np.arange(n) == 0).astype(float),
    "rising": lambda rng, n: np.arange(n, dtype=float),
}
COUNTS: dict[str, Callable[[Rng, int], Any]] = {
    "mixed": _mixed_counts,
    "poisson": lambda rng, n: rng.poisson(rng.choice([0.1, 2.0, 20.0]), size=n).astype(float),
    "rare": _rare,
    "none": lambda rng, n: np.zeros(n),
    "constant": lambda rng, n: np.full(n, float(rng.integers(0, 5))),
    "one that differs": lambda rng, n: (np.arange(n) == 0).astype(float),
    "one that is huge": lambda rng, n: np.where(np.arange(n) == 0, rng.choice([1e4, 1e9]), 1.0),
    "even": lambda rng, n: 2.0 * rng.integers(0, 3, size=n),
}


def _scaled(rng: Rng, table: Array, counts: bool) -> Array:
    """In other units, or far from zero."""
    chance, d = rng.random(), table.shape[1]
    if counts:
        size = float(rng.choice([1.0, 10.0, 1e6, 1e12, 1e15])) if chance < 0.05 else 1.0
        return table * size
    if chance < 0.75:
        return table
    if chance < 0.85:
        return np.asarray(table * 10.0 ** rng.uniform(-6, 6, size=d))
    if chance < 0.9:
        return np.asarray(table + rng.choice([1e3, 1e6, 1e9, -1e12], size=d))
    reach = float(rng.choice([20.0, 100.0, 150.0, 300.0]))
    with np.errstate(over="ignore"):
        powers = rng.uniform(-reach, reach, size=d if rng.random() < 0.5 else 1)
        return np.asarray(table * 10.0**powers)


def _related(rng: Rng, table: Array) -> Array:
    """Columns that follow from others, and rows that come again."""
    n, d = table.shape
    chance = rng.random()
    if chance < 0.08 and d > 1:
        table[:, -1] = table[:, 0] * rng.choice([1.0, 2.0, -1.0] if chance < 0.04 else [1.0, 2.0])
    elif chance < 0.12 and d > 2:
        table[:, -1] = table[:, 0] + table[:, 1]
    elif chance < 0.17:
        table = np.repeat(table, 2, axis=0)[:n]
    elif chance < 0.19:
        table = np.repeat(table[:1], n, axis=0)
    elif chance < 0.21:
        table = np.sort(table, axis=0)
    return table


def _with_gaps(rng: Rng, table: Array) -> Array:
    n, d = table.shape
    kind = rng.choice(list(GAPS), p=[gap[0] for gap in GAPS.values()])
    return np.where(GAPS[kind][1](rng, n, d), np.nan, table)


def _never_together(rng: Rng, n: int, d: int) -> Mask:
    return np.asarray((np.arange(n)[:, None] < n // 2) == (np.arange(d) < d // 2))


def _in_blocks(rng: Rng, n: int, d: int) -> Mask:
    return np.asarray((rng.random(n) < 0.5)[:, None] & (np.arange(d) >= d // 2))


GAPS: dict[str, tuple[float, Callable[[Rng, int, int], Mask]]] = {
    "none": (0.35, lambda rng, n, d: np.zeros((n, d), bool)),
    "a few": (0.25, lambda rng, n, d: rng.random((n, d)) < 0.1),
    "half": (0.15, lambda rng, n, d: rng.random((n, d)) < rng.random(d)),
    "nearly all": (0.05, lambda rng, n, d: rng.random((n, d)) < 0.9),
    "blocks": (0.05, _in_blocks),
    "never together": (0.06, _never_together),
    "a column": (0.05, lambda rng, n, d: np.tile(np.arange(d) == rng.integers(d), (n, 1))),
    "rows": (0.03, lambda rng, n, d: np.tile(rng.random((n, 1)) < 0.4, (1, d))),
    "all": (0.01, lambda rng, n, d: np.ones((n, d), bool)),
}
