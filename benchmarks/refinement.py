"""What EM adds to moments, and what moments add to EM.

Run ``python -m benchmarks.refinement``: 40 tables of 10,000 rows in each pattern of gaps.
Errors of Gaussian mixtures by the default fit, by EM started at the truth, by the best of EM from
five random starts, and by the paper's method; the time of each; and the error of the incomplete
features' means.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks import results_file
from benchmarks.baselines import em_from, em_from_random_starts
from benchmarks.comparison import geometric_ratio
from benchmarks.reproduce import paper
from benchmarks.reproduce.synthetic import (
    N_COMPLETE,
    N_COMPONENTS,
    PATTERNS,
    World,
    gaussian_world,
    table,
)
from halfseen import GaussianMixture
from halfseen.data.arrays import Array
from halfseen.data.errors import WeakMomentsWarning
from halfseen.diagnostics.recovery import match, total_angle

NAMES = ("default", "moments only", "EM from truth", "best of 5 random EM", "paper")


def contestants(world: World, X: Array, seed: int) -> dict[str, Callable[[], Array]]:
    """What is compared: each gives means (k, d) for a table."""
    rng = np.random.default_rng(seed)
    return {
        "default": lambda: GaussianMixture(N_COMPONENTS).fit(X).means_,
        "moments only": lambda: GaussianMixture(N_COMPONENTS, refine=None).fit(X).means_,
        "EM from truth": lambda: (
            em_from(X, world.weights, world.components, 100.0).parameters.means
        ),
        "best of 5 random EM": lambda: (
            em_from_random_starts(X, N_COMPONENTS, 5, rng).parameters.means
        ),
        "paper": lambda: paper.gaussian_mixture(N_COMPONENTS, random_state=0).fit(X).means_,
    }


def incomplete_rmse(means: Array, true: Array) -> float:
    """Error of the incomplete features' means, components matched on the complete ones."""
    order = match(means[:, :N_COMPLETE], true[:, :N_COMPLETE])
    return float(np.sqrt(np.mean((means[order] - true)[:, N_COMPLETE:] ** 2)))


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    angle: dict[str, list[float]] = {name: [] for name in NAMES}
    rmse: dict[str, list[float]] = {name: [] for name in NAMES}
    seconds = dict.fromkeys(NAMES, 0.0)
    for pattern in PATTERNS.values():
        for seed in range(options.seeds):
            world, X = table(gaussian_world, pattern, options.rows, seed)
            for name, learn in contestants(world, X, seed).items():
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", WeakMomentsWarning)
                    means = learn()
                seconds[name] += time.perf_counter() - start
                angle[name].append(total_angle(means, world.components, np.arange(N_COMPLETE)))
                rmse[name].append(incomplete_rmse(means, world.components))
    figures = _figures(angle, rmse, seconds)
    for name, row in figures.items():
        print(f"{name:>20}  " + "  ".join(f"{key} {value:.3f}" for key, value in row.items()))
    if options.keep:
        command = f"python -m benchmarks.refinement --rows {options.rows}"
        results_file.write("refinement", f"{command} --seeds {options.seeds}", figures)


def _figures(
    angle: dict[str, list[float]], rmse: dict[str, list[float]], seconds: dict[str, float]
) -> dict[str, dict[str, float]]:
    truth, theirs = np.array(angle["EM from truth"]), np.array(rmse["paper"])
    figures = {}
    for name in NAMES:
        ratio, error = geometric_ratio(np.array(angle[name]), truth)
        figures[name] = {
            "mean error": float(np.mean(angle[name])),
            "median error": float(np.median(angle[name])),
            "ratio to truth": ratio,
            "se": error,
            "incomplete rmse": float(np.mean(rmse[name])),
            "rmse / paper": geometric_ratio(np.array(rmse[name]), theirs)[0],
            "seconds": seconds[name],
        }
    return figures


if __name__ == "__main__":
    main()
