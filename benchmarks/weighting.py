"""The paper's claim: weighting is at least as good as the better of full and partial.

Run ``python -m benchmarks.weighting``: 20 tables of 10,000 rows in each pattern of gaps.
"""

import argparse
from functools import partial

import numpy as np

from benchmarks import results_file
from benchmarks.comparison import errors
from benchmarks.reproduce import paper
from benchmarks.reproduce.synthetic import N_COMPONENTS, gamma_poisson_world, gaussian_world

WORLDS = {
    "gamma-Poisson": (gamma_poisson_world(shape=0.5, mean_length=40.0), paper.gamma_poisson),
    "Gaussian mixture": (gaussian_world, paper.gaussian_mixture),
}


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for world, (make, estimator) in WORLDS.items():
        methods = {
            method: partial(estimator, N_COMPONENTS, method, random_state=0)
            for method in paper.METHODS
        }
        figures[world] = {}
        print(f"\n{world}: mean ε_c (standard error)")
        for pattern, by_method in errors(make, methods, options.rows, options.seeds).items():
            row = _summary(by_method)
            figures[world][pattern] = row
            cells = "  ".join(f"{m} {row[m]:.3f} ({row[m + ' se']:.3f})" for m in paper.METHODS)
            print(f"{pattern:>6}  {cells}  weighted / better of both {row['ratio']:.3f}")
    if options.keep:
        command = f"python -m benchmarks.weighting --rows {options.rows}"
        results_file.write("weighting", f"{command} --seeds {options.seeds}", figures)


def _summary(by_method: dict[str, list[float]]) -> dict[str, float]:
    row: dict[str, float] = {}
    for method, values in by_method.items():
        row[method] = float(np.mean(values))
        row[f"{method} se"] = float(np.std(values, ddof=1) / np.sqrt(len(values)))
    row["ratio"] = row["weighted"] / min(row["full"], row["partial"])
    return row


if __name__ == "__main__":
    main()
