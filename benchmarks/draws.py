"""Draws for multiple imputation where what is missing is beyond what was seen.

Run ``python -m benchmarks.draws``: the mean of y = 2x + e where y is missing for x > 1, and the
energy distance between rows with drawn cells and the true rows, of collinear tables whose columns
are missing where the first is high, beside multiple imputation by chained equations
(``chained_equations.py``: mice's predictive mean matching, and its normal regression). Draws were
made with seeds below 100; those here begin at 500.
"""

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_iris

from benchmarks import results_file
from benchmarks.chained_equations import chained_equations
from benchmarks.reproduce import data_folder
from halfseen import Imputer

Array = np.ndarray[Any, np.dtype[np.float64]]
FIRST_SEED, N_DRAWS = 500, 10
MOST_ROWS = 1_000
"""Of a table that is drawn for."""


def ours(X: Array, number: int, seed: int) -> list[Array]:
    """Completed tables of the imputer."""
    return list(Imputer(draws=number, random_state=seed).fit(X).draw(X))


WAYS: dict[str, Callable[[Array, int, int], list[Array]]] = {
    "imputer": ours,
    "mice, pmm": lambda X, number, seed: chained_equations(X, number, "pmm", seed),
    "mice, norm": lambda X, number, seed: chained_equations(X, number, "norm", seed),
}


def example(seed: int) -> dict[str, float]:
    """The mean of missing y less its truth, by way."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=2000)
    table = np.column_stack([x, 2 * x + rng.normal(size=2000)])
    gaps, holes = x > 1, table.copy()
    holes[gaps, 1] = np.nan
    truth = table[gaps, 1].mean()
    return {
        name: float(np.mean([one[gaps, 1].mean() for one in way(holes, N_DRAWS, seed)]) - truth)
        for name, way in WAYS.items()
    }


def tables() -> Iterator[tuple[str, Array]]:
    """Complete tables whose columns are collinear."""
    rng = np.random.default_rng(7)
    path = data_folder.find("labelled/crabs.csv")
    if path is not None:
        yield "crabs", np.genfromtxt(path, delimiter=",", skip_header=1)[:, :-1]
    yield "iris", load_iris().data
    cells = load_breast_cancer().data
    yield "cells, means", cells[:, :10]
    yield "cells, worst", cells[:, 20:]
    yield "one factor", rng.normal(size=(600, 1)) + 0.2 * rng.normal(size=(600, 6))
    skewed = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(size=(600, 6))
    yield "two factors, skewed", np.exp(0.4 * skewed)


def at_random(X: Array, rng: np.random.Generator) -> Array:
    """Cells of all columns but the first are missing, together, more often where it is high."""
    holes = X.copy()
    score = (X[:, 0] - np.median(X[:, 0])) / X[:, 0].std()
    rows = rng.random(len(X)) < 0.8 / (1 + np.exp(-3 * score))
    some = rng.random((len(X), X.shape[1] - 1)) < 0.6
    holes[:, 1:][rows[:, None] & some] = np.nan
    return holes


def energy_distance(one: Array, other: Array) -> float:
    """``2 E|X-Y| - E|X-X'| - E|Y-Y'|`` of rows."""
    return float(2 * cdist(one, other).mean() - cdist(one, one).mean() - cdist(other, other).mean())


def energies(X: Array, seed: int) -> dict[str, float]:
    """Of rows with drawn cells and the true ones, in standard deviations of the columns."""
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(len(X))[:MOST_ROWS]]
    holes = at_random(X, rng)
    rows, spread = np.isnan(holes).any(axis=1), X.std(axis=0)
    truth = X[rows] / spread
    return {
        name: float(
            np.mean([energy_distance(one[rows] / spread, truth) for one in way(holes, 5, seed)])
        )
        for name, way in WAYS.items()
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
    off = [example(seed) for seed in seeds]
    figures: dict[str, Any] = {
        "mean of missing y less its truth": {
            name: {
                "mean": float(np.mean([one[name] for one in off])),
                "largest": float(np.max(np.abs([one[name] for one in off]))),
            }
            for name in WAYS
        }
    }
    print(figures, flush=True)
    energy: dict[str, Any] = {}
    for name, X in tables():
        found = [energies(X, seed) for seed in seeds]
        mean = {way: float(np.mean([one[way] for one in found])) for way in WAYS}
        best = min(value for way, value in mean.items() if way != "imputer")
        energy[name] = mean | {
            "ratio to mice's better": mean["imputer"] / best,
            "ratio to mice's default": mean["imputer"] / mean["mice, pmm"],
        }
        print(name, energy[name], flush=True)
    figures["energy distance"] = energy
    if options.keep:
        results_file.write("draws", f"python -m benchmarks.draws --seeds {options.seeds}", figures)


if __name__ == "__main__":
    main()
