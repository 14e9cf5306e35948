"""How the time of a fit grows with columns and with components."""

from typing import NamedTuple

import numpy as np

from benchmarks.bench import normals
from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.bench.cases.mixtures import (
    GAIN,
    SEED,
    judge,
    ours,
    scikit_learn_filled,
    stepmix_shorter,
)
from benchmarks.bench.normals import Table
from halfseen import GaussianMixture
from halfseen.data.arrays import Array


def by_components(rows: int, columns: int, components: int) -> Table:
    """Well apart, so that everybody needs few passes and time is that of a pass."""
    return normals.drawn(rows, columns, components, "diag", 0.3, 6.0, SEED)


class Wide(NamedTuple):
    """A table with gaps, and the means behind it."""

    X: Array  # (n, d)
    means: Array  # (k, d)


def by_columns(rows: int, columns: int, components: int) -> Wide:
    """One variance, as the moments alone need; half of the columns are complete."""
    rng = np.random.default_rng([SEED, columns])
    means = rng.normal(scale=6.0 / np.sqrt(2 * columns), size=(components, columns))
    X = means[rng.integers(components, size=rows)] + rng.standard_normal((rows, columns))
    share = np.where(np.arange(columns) % 2, 0.7, 1.0)
    X[rng.random(X.shape) >= share] = np.nan
    return Wide(X, means)


def moments_alone(data: Wide, threads: int) -> Array:
    """The third moment is never formed, and nothing is refined."""
    model = GaussianMixture(
        len(data.means), refine=None, third_moment="implicit", random_state=0, n_jobs=threads
    )
    means: Array = model.fit(data.X).means_
    return means


def plain_products(data: Wide, threads: int) -> Array:
    """What nobody can avoid: the zero-filled table by as many vectors as components, twice."""
    filled = np.nan_to_num(data.X)
    shares = filled @ data.means.T
    means: Array = np.abs(shares).T @ filled / np.abs(shares).sum(axis=0)[:, None]
    return means


def off(data: Wide, means: Array) -> Errors:
    """How far each true mean is from the nearest that was found, a column."""
    away = ((data.means[:, None] - means[None]) ** 2).mean(axis=2).min(axis=1)
    return {"rmse of means": float(np.sqrt(away.mean()))}


COMPONENTS = Case(
    name="components",
    asks="How does the time of a fit grow with the number of components?",
    draw=by_components,
    settings=tuple(
        Setting(f"{k} components", {"rows": 20_000, "columns": 20, "components": k}, quick=k < 9)
        for k in (2, 4, 8, 16, 32)
    ),
    entrants={
        OURS: Entrant(OURS, ours, "defaults, without outliers"),
        "StepMix, shorter": Entrant("stepmix", stepmix_shorter, f"one start, gain {GAIN:g}"),
        "scikit-learn, filled": Entrant(
            "scikit-learn", scikit_learn_filled, "gaps filled with column means, its tolerance"
        ),
    },
    judge=judge,
    metric="nats a row",
    close=1e-4,
    along="components",
    warm={"rows": 1000, "columns": 20, "components": 2},
)
COLUMNS = Case(
    name="columns",
    asks="How does the time of moments grow with columns, if the third is never formed?",
    draw=by_columns,
    settings=tuple(
        Setting(f"{d:,} columns", {"rows": 10_000, "columns": d, "components": 5}, quick=d < 300)
        for d in (100, 200, 400, 800, 1600)
    ),
    entrants={
        OURS: Entrant(OURS, moments_alone, "moments alone, the third never formed"),
        "two products": Entrant("numpy", plain_products, "NumPy: no fit, a yardstick"),
    },
    judge=off,
    metric="rmse of means",
    close=0.05,
    relative=True,
    along="columns",
    warm={"rows": 1000, "columns": 20, "components": 2},
    why="The yardstick is two products of the table, not a fit: it is there for the exponent.",
)
