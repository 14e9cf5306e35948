"""How often confidence intervals hold the truth, and what they cost.

Run ``python -m benchmarks.coverage``: 200 tables for each pattern of gaps, mixtures of
5,000 rows and gamma-Poisson topics of 10,000, and the time of 200 replicates beside that of a fit.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from benchmarks import results_file
from benchmarks.number_of_components import (
    FIRST_SEED,
    N_COMPLETE,
    N_FEATURES,
    PATTERNS,
)
from halfseen import GammaPoisson, GaussianMixture, WeakMomentsWarning, simulate
from halfseen.rows.arrays import Array

N_COMPONENTS = 4
Truth = dict[str, Array]


def mixture(concentration: float) -> Callable[..., tuple[Truth, Array, Any]]:
    """Means ~ N(0, 100), σ² = 100, π ~ Dir(concentration): at 1 some components are rare."""

    def draw(n: int, rng: np.random.Generator) -> tuple[Truth, Array, Any]:
        means = rng.normal(0, 10, (N_COMPONENTS, N_FEATURES))
        weights = rng.dirichlet(np.full(N_COMPONENTS, concentration))
        X = simulate.gaussian_mixture(n, weights, means, 100.0, rng)[0]
        truth = {"means_": means, "weights_": weights, "covariances_": np.array(100.0)}
        return truth, X, GaussianMixture(N_COMPONENTS)

    return draw


def topics(n: int, rng: np.random.Generator) -> tuple[Truth, Array, Any]:
    """Topics ~ Dir(1), shapes of one, rows of 100 counts in the mean."""
    components = rng.dirichlet(np.ones(N_FEATURES), N_COMPONENTS)
    shapes, rate = np.ones(N_COMPONENTS), N_COMPONENTS / 100
    X = simulate.gamma_poisson(n, components, shapes, rate, rng)[0]
    truth = {"components_": components, "shapes_": shapes, "rate_": np.array(rate)}
    return truth, X, GammaPoisson(N_COMPONENTS)


WORLDS: dict[str, tuple[Callable[..., tuple[Truth, Array, Any]], int]] = {
    "Gaussian mixture": (mixture(5.0), 5_000),
    "Gaussian mixture, some components rare": (mixture(1.0), 5_000),
    "gamma-Poisson": (topics, 10_000),
}


def held(world: str, pattern: str, seed: int) -> dict[str, float]:
    """The share of a table's 95 % intervals that hold the truth, for each learned attribute."""
    rng = np.random.default_rng(seed)
    draw, n = WORLDS[world]
    truth, X, model = draw(n, rng)
    X = simulate.independent_gaps(X, np.r_[np.ones(N_COMPLETE), PATTERNS[pattern]], rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        model.fit(X)
        fitted = time.perf_counter()
        found = model.intervals(X)
        done = time.perf_counter()
    places = next(iter(truth))
    order = _matching(truth[places], getattr(model, places))
    shares = {}
    for name, true in truth.items():
        low, high = (side[order] if np.ndim(side) else side for side in found[name][:2])
        shares[name] = float(np.mean((low <= true) & (true <= high)))
    return shares | {"times a fit": (done - fitted) / (fitted - start)}


def _matching(true: Array, learned: Array) -> Any:
    apart = ((true[:, None] - learned[None]) ** 2).sum(axis=2)
    return linear_sum_assignment(apart)[1]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures: dict[str, dict[str, float]] = {}
    for world in WORLDS:
        for pattern in PATTERNS:
            found = Parallel(options.jobs)(
                delayed(held)(world, pattern, FIRST_SEED + seed) for seed in range(options.sets)
            )
            summary = {name: float(np.mean([one[name] for one in found])) for name in found[0]}
            summary["times a fit"] = float(np.median([one["times a fit"] for one in found]))
            figures[f"{world}, {pattern}"] = summary
            print(world, pattern, summary, flush=True)
    if options.keep:
        command = f"python -m benchmarks.coverage --sets {options.sets}"
        results_file.write("coverage", command, figures)


if __name__ == "__main__":
    main()
