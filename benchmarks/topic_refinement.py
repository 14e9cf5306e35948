"""What stochastic EM adds to moments of topics, and regression to division by weights.

Run ``python -m benchmarks.topic_refinement``: 40 tables of 3,000 rows of mean length 100
in each pattern of gaps, moments, stochastic EM from them and from the truth.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import results_file
from benchmarks.comparison import geometric_ratio
from benchmarks.reproduce.synthetic import (
    N_COMPLETE,
    N_COMPONENTS,
    N_FEATURES,
    PATTERNS,
    gamma_poisson_world,
    table,
)
from halfseen import GammaPoisson
from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import WeakMomentsWarning
from halfseen.diagnostics.recovery import match, total_angle
from halfseen.models.gamma_poisson.parameters import GammaPoissonParameters
from halfseen.models.gamma_poisson.stochastic_em import refine

SHAPE, LENGTH = 1.0, 100.0
ALTERNATIVES: dict[str, dict[str, Any]] = {
    "moments": {},
    "divided": {"incomplete_features": "divide"},
    "divided, w = p": {"incomplete_features": "divide", "feature_weights": "observed"},
    "saem": {"refine": "saem"},
}


def one_table(pattern: str, n_rows: int, n_sweeps: int, seed: int) -> dict[str, dict[str, float]]:
    """Errors of every alternative on one table."""
    world, X = table(gamma_poisson_world(SHAPE, LENGTH), PATTERNS[pattern], n_rows, seed)
    true = world.components
    found: dict[str, tuple[Array, float]] = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        for name, settings in ALTERNATIVES.items():
            start = time.perf_counter()
            model = GammaPoisson(
                N_COMPONENTS, n_sweeps=n_sweeps, random_state=seed, **settings
            ).fit(X)
            found[name] = (model.components_, time.perf_counter() - start)
        start = time.perf_counter()
        truth = GammaPoissonParameters(true, world.weights, world.weights.sum() / LENGTH)
        rows = MemoryRows(X, tuple(map(str, range(N_FEATURES))))
        ideal = refine(rows, truth, seed=seed, n_sweeps=n_sweeps).parameters.topics
        found["saem from truth"] = (ideal, time.perf_counter() - start)
    return {name: _errors(topics, true, seconds) for name, (topics, seconds) in found.items()}


def _errors(topics: Array, true: Array, seconds: float) -> dict[str, float]:
    complete = np.arange(N_COMPLETE)
    order = match(topics[:, complete], true[:, complete])
    away = np.abs(topics[order] - true)[:, N_COMPLETE:].sum()
    return {
        "angle": total_angle(topics, true, complete),
        "incomplete L1": float(away / true[:, N_COMPLETE:].sum()),
        "seconds": seconds,
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--sweeps", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    tables = [
        (pattern, options.rows, options.sweeps, seed)
        for pattern in PATTERNS
        for seed in range(options.seeds)
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one_table, *zip(*tables, strict=True)))
    figures = {name: _summary(results, name) for name in results[0]}
    for name, row in figures.items():
        print(f"{name:>16}  " + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    if options.keep:
        command = f"python -m benchmarks.topic_refinement --rows {options.rows}"
        results_file.write("topic_refinement", f"{command} --seeds {options.seeds}", figures)


def _summary(results: list[dict[str, dict[str, float]]], name: str) -> dict[str, float]:
    def of(name: str, what: str) -> Array:
        return np.array([result[name][what] for result in results])

    angle, away = of(name, "angle"), of(name, "incomplete L1")
    ratio, error = geometric_ratio(angle, of("moments", "angle"))
    return {
        "mean error": float(angle.mean()),
        "ratio to moments": ratio,
        "se": error,
        "ratio to saem from truth": geometric_ratio(angle, of("saem from truth", "angle"))[0],
        "incomplete L1": float(away.mean()),
        "L1 / divided, w = p": geometric_ratio(away, of("divided, w = p", "incomplete L1"))[0],
        "seconds": float(of(name, "seconds").mean()),
    }


if __name__ == "__main__":
    main()
