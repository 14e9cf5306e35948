"""How long a million rows of mixed columns take, beside as many continuous ones.

Run ``python -m benchmarks.class_speed``: 20 columns with 20 % of gaps and 4 classes, mixed (eight
continuous, four counts, four of categories, four of two values) for ``LatentClass``, and 20
continuous ones for ``GaussianMixture(covariance_type="diag")``; fitted in turn in one run.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

from benchmarks import results_file
from halfseen import GaussianMixture, LatentClass

Array = np.ndarray[Any, np.dtype[np.float64]]
KINDS = ["continuous"] * 8 + ["count"] * 4 + ["categorical"] * 4 + ["binary"] * 4


def mixed(rng: np.random.Generator, n: int, k: int) -> Array:
    """Rows (n, 20) of mixed columns, with gaps."""
    z = rng.integers(k, size=n)
    shares = rng.dirichlet(np.ones(5), size=(4, k))
    X = np.column_stack(
        [
            rng.normal(rng.normal(scale=1.2, size=(k, 8))[z]),
            rng.poisson(rng.gamma(2.0, 1.5, size=(k, 4))[z]),
            *((s[z].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1) for s in shares),
            rng.random((n, 4)) < rng.uniform(0.1, 0.9, size=(k, 4))[z],
        ]
    )
    return np.where(rng.random(X.shape) < 0.8, X, np.nan)


def numbers(rng: np.random.Generator, n: int, k: int) -> Array:
    """Rows (n, 20) of continuous columns, with gaps."""
    X = rng.normal(rng.normal(scale=1.2, size=(k, 20))[rng.integers(k, size=n)])
    return np.where(rng.random(X.shape) < 0.8, X, np.nan)


def seconds(make: Any, X: Array) -> tuple[float, int]:
    """Of one fit, and its passes."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X)
    return time.perf_counter() - start, int(model.n_iter_)


def main() -> None:
    """Print both times and their ratio, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    k = asked.classes
    ways = {
        "LatentClass": (lambda: LatentClass(k, kinds=dict(enumerate(KINDS)), n_jobs=2), mixed),
        "GaussianMixture diag": (
            lambda: GaussianMixture(k, covariance_type="diag", n_jobs=2),
            numbers,
        ),
    }
    small = {name: draw(np.random.default_rng(0), 2000, k) for name, (_, draw) in ways.items()}
    for name, (make, _) in ways.items():
        seconds(make, small[name])  # compiled
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for seed in range(asked.repeats):
        for name, (make, draw) in ways.items():
            took, passes = seconds(make, draw(np.random.default_rng(seed), asked.rows, k))
            taken[name].append(took)
            print(f"{name}: {took:.1f} s, {passes} passes", flush=True)
    medians = {name: float(np.median(each)) for name, each in taken.items()}
    figures = medians | {"ratio": medians["LatentClass"] / medians["GaussianMixture diag"]}
    print(figures)
    if asked.keep:
        results_file.write(
            "class_speed", f"python -m benchmarks.class_speed --rows {asked.rows}", figures
        )


if __name__ == "__main__":
    main()
