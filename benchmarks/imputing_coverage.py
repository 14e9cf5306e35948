"""How often 95 % intervals that are pooled from draws hold what is true; beside mice's."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.filling_ways import Array, by_mice, is_at_hand
from halfseen import Imputer, pool

N_ROWS, N_DRAWS = 500, 20
NAMES = ("mean", "correlation", "slope")


def complete_table(rng: np.random.Generator, n: int, skewed: bool) -> Array:
    """Two columns, a third that depends on both, and one of two values."""
    X = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=n)
    if skewed:
        X = np.column_stack([X[:, 0], np.exp(0.5 * X[:, 1])])
    y = 1 + 0.5 * X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n)
    group = rng.random(n) < 1 / (1 + np.exp(-X[:, 0]))
    return np.column_stack([X, y, group]).astype(float)


def gaps_at_random(rng: np.random.Generator, X: Array) -> Array:
    """Gaps in all but the first column, more where that is high."""
    chance = 1 / (1 + np.exp(-(X[:, :1] - 1)))
    gaps = rng.random(X.shape) < chance
    gaps[:, 0] = False
    return np.where(gaps, np.nan, X)


def estimates(X: Array) -> tuple[Array, Array]:
    """A mean, a correlation (Fisher's z) and a slope, and their variances."""
    n, y = len(X), X[:, 2]
    design = np.column_stack([np.ones(n), X[:, :2]])
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ y
    left = float(((y - design @ slopes) ** 2).sum()) / (n - 3)
    z = np.arctanh(np.corrcoef(X[:, 1], y)[0, 1])
    found = [y.mean(), z, slopes[2]]
    return np.array(found), np.array([y.var(ddof=1) / n, 1 / (n - 3), left * inverse[2, 2]])


def draws_of_ours(tables: list[Array]) -> Iterable[Iterable[Array]]:
    """Completed tables of the imputer."""
    for number, X in enumerate(tables):
        yield Imputer(draws=N_DRAWS, random_state=number).fit(X).draw(X)


def draws_of_mice(tables: list[Array]) -> Iterable[Iterable[Array]]:
    """Those of R's mice, by predictive mean matching."""
    return by_mice(tables, N_DRAWS, "pmm")


DRAWS: dict[str, Callable[[list[Array]], Iterable[Iterable[Array]]]] = {
    "imputer": draws_of_ours,
    "mice": draws_of_mice,
}


def coverage(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Over many tables of 500 rows."""
    runs = []
    for way in filter(is_at_hand, asked.ways or DRAWS):
        for world in ("normal", "skewed"):
            skewed = world == "skewed"
            many = complete_table(np.random.default_rng(1), 2_000_000, skewed)
            found = _covered(way, skewed, estimates(many)[0], asked.runs)
            runs.append({"way": way, "world": world, "tables": asked.runs, **found})
            print(runs[-1], flush=True)
    return runs


def _covered(way: str, skewed: bool, truth: Array, runs: int) -> dict[str, Any]:
    hits, lost, bias, wide = [], [], [], []
    randoms = map(np.random.default_rng, range(runs))
    tables = [gaps_at_random(rng, complete_table(rng, N_ROWS, skewed)) for rng in randoms]
    for drawn in DRAWS[way](tables):
        each = [estimates(table) for table in drawn]
        found = pool([one[0] for one in each], [one[1] for one in each], df=N_ROWS - 3)
        hits.append((found.low <= truth) & (truth <= found.high))
        lost.append(found.missing_information)
        bias.append((found.estimate - truth) / found.std)
        wide.append(found.high - found.low)
    figures = zip(NAMES, *(np.mean(one, axis=0) for one in (hits, lost, bias, wide)), strict=True)
    return {
        what: {
            "covered": round(float(hit), 4),
            "lost": round(float(gone), 3),
            "bias": round(float(off), 3),
            "width": round(float(width), 4),
        }
        for what, hit, gone, off, width in figures
    }
