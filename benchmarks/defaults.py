"""What our defaults gain over the paper's settings, before refinement by likelihood.

Run ``python -m benchmarks.defaults``: 40 tables of 10,000 rows in each pattern of gaps.
"""

import argparse
from functools import partial
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.comparison import errors, geometric_ratio
from benchmarks.reproduce import paper
from benchmarks.reproduce.synthetic import N_COMPONENTS, gamma_poisson_world, gaussian_world
from halfseen import GammaPoisson, GaussianMixture

WORLDS: dict[str, tuple[Any, Any, Any]] = {
    "Gaussian mixture": (gaussian_world, GaussianMixture, paper.gaussian_mixture),
    "gamma-Poisson": (gamma_poisson_world(1.0, 100.0), GammaPoisson, paper.gamma_poisson),
}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures: dict[str, dict[str, tuple[float, float]]] = {}
    for world, (make, ours, theirs) in WORLDS.items():
        estimators = {
            "defaults": partial(ours, N_COMPONENTS, refine=None, random_state=0),
            "paper": partial(theirs, N_COMPONENTS, random_state=0),
        }
        results = errors(make, estimators, options.rows, options.seeds)
        pooled = {
            name: np.concatenate([by_name[name] for by_name in results.values()])
            for name in estimators
        }
        rows = {pattern: {k: np.array(v) for k, v in r.items()} for pattern, r in results.items()}
        figures[world] = {
            pattern: geometric_ratio(r["defaults"], r["paper"])
            for pattern, r in (rows | {"all": pooled}).items()
        }
        print(f"\n{world}: ε_c of our defaults / the paper's settings, geometric means")
        for pattern, (ratio, error) in figures[world].items():
            print(f"{pattern:>6}  {ratio:.3f} ({error:.3f})")
    if options.keep:
        command = f"python -m benchmarks.defaults --rows {options.rows}"
        results_file.write("defaults", f"{command} --seeds {options.seeds}", figures)


if __name__ == "__main__":
    main()
