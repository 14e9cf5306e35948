"""What one EM iteration costs beside the matrix products that it cannot avoid.

Run ``python -m benchmarks.em_speed``: six components on the training part of the sepsis
table, both in one run.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks import results_file, sepsis
from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.structures.one_class.e_step import ClassSteps
from halfseen.structures.one_class.normal.covariance import SHAPES
from halfseen.structures.one_class.normal.emission import Normal
from halfseen.structures.one_class.normal.parameters import MixtureParameters

N_COMPONENTS = 6


def products(X: Array, mask: Array, means: Array, shares: Array) -> None:
    """``X₀ A'``, ``M (A²)'`` and ``R' X₀``."""
    X @ means.T
    mask @ (means**2).T
    shares.T @ X


def median_seconds(function: Callable[[], object], repeats: int) -> float:
    """The middle time of many runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    X, _ = sepsis.split_by_patient(sepsis.load(), 0.2, seed=0)
    rng = np.random.default_rng(0)
    n, d = X.shape
    means = rng.standard_normal((N_COMPONENTS, d))
    weights = np.full(N_COMPONENTS, 1 / N_COMPONENTS)
    parameters = MixtureParameters(weights, means, np.ones((N_COMPONENTS, d)))
    zeros, mask = np.nan_to_num(X), (~np.isnan(X)).astype(float)
    shares = rng.dirichlet(np.ones(N_COMPONENTS), n)
    rows = MemoryRows(X, tuple(map(str, range(d)))).recentred(np.zeros(d))
    floor = median_seconds(lambda: products(zeros, mask, means, shares), options.repeats)
    figures = {"rows": float(n), "products ms": 1e3 * floor}

    def iterate(steps: ClassSteps[MixtureParameters]) -> None:
        steps.maximise(rows.accumulate(steps.expect(parameters)), parameters)

    for kind, shape in SHAPES.items():
        cost = median_seconds(partial(iterate, ClassSteps(Normal(shape))), options.repeats)
        figures |= {f"{kind} ms": 1e3 * cost, f"{kind} / products": cost / floor}
    print("  ".join(f"{name} {value:.4g}" for name, value in figures.items()))
    if options.keep:
        results_file.write("em_speed", "python -m benchmarks.em_speed", figures)


if __name__ == "__main__":
    main()
