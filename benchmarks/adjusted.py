"""Moments adjusted by what complete features predict, beside available-case ones.

Run ``python -m benchmarks.adjusted``: 20 tables of 10,000 rows in each pattern of gaps.
"""

import argparse
from functools import partial
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.comparison import errors, geometric_ratio
from benchmarks.reproduce.synthetic import N_COMPONENTS, gamma_poisson_world, gaussian_world
from halfseen import GammaPoisson, GaussianMixture

WORLDS: dict[str, tuple[Any, Any]] = {
    "gamma-Poisson": (gamma_poisson_world(shape=1.0, mean_length=100.0), GammaPoisson),
    "Gaussian mixture": (gaussian_world, partial(GaussianMixture, refine=None)),
}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures: dict[str, dict[str, tuple[float, float]]] = {}
    for world, (make, estimator) in WORLDS.items():
        ways = {
            moments: partial(estimator, N_COMPONENTS, moments=moments)
            for moments in ("available", "adjusted")
        }
        found = errors(make, ways, options.rows, options.seeds)
        figures[world] = {
            pattern: geometric_ratio(np.array(row["adjusted"]), np.array(row["available"]))
            for pattern, row in found.items()
        }
        print(f"{world}: ε_c adjusted / available (standard error)")
        for pattern, (ratio, error) in figures[world].items():
            print(f"{pattern:>6}  {ratio:.3f} ({error:.3f})")
    if options.keep:
        command = f"python -m benchmarks.adjusted --rows {options.rows}"
        results_file.write("adjusted", f"{command} --seeds {options.seeds}", figures)


if __name__ == "__main__":
    main()
