"""What the passes of a fit by moments cost, as multiples of one plain sum over the table.

Run ``python -m benchmarks.pass_costs``: 1,000,000 rows of 20 features, 8 of them with gaps. The
sum, ``X.sum(0)`` in one thread, is timed between the fits, and the shortest times count.
``--baseline SRC`` measures another version of the package too, whose sources are in that folder;
versions take turns, each in a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import results_file
from halfseen import GaussianMixture, simulate

Array = NDArray[np.float64]
STAGES = (
    "features",
    "pairs of features",
    "triples of features",
    "decomposition",
    "incomplete features",
)
THREADS = (1, 2)
N_COMPONENTS = 4

Costs = dict[str, dict[str, float]]
"""By the number of threads: what a stage costs, and all of them in total."""


def table(n_rows: int, n_features: int = 20, n_complete: int = 12) -> Array:
    """Four groups, and features that are observed in 10 to 90 % of the rows."""
    rng = np.random.default_rng(0)
    means = rng.normal(scale=2.0, size=(N_COMPONENTS, n_features))
    X, _ = simulate.gaussian_mixture(n_rows, np.full(N_COMPONENTS, 0.25), means, 1.0, rng)
    observed = np.ones(n_features)
    observed[n_complete:] = rng.uniform(0.1, 0.9, size=n_features - n_complete)
    return simulate.independent_gaps(X, observed, rng)


def seconds(function: Callable[[], object]) -> float:
    """How long it takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measured(n_rows: int, repeats: int) -> Costs:
    """The costs of the version that is imported here."""
    X = table(n_rows)
    fits: dict[int, list[dict[str, float]]] = {n: [] for n in THREADS}
    sums = []
    for _ in range(repeats + 1):
        for n_threads, found in fits.items():
            sums += [seconds(lambda: X.sum(axis=0)) for _ in range(3)]
            model = GaussianMixture(N_COMPONENTS, refine=None, n_jobs=n_threads).fit(X)
            found.append(model.diagnostics_.seconds)
    # The first fit also compiles, or reads what was compiled.
    return {str(n): _multiples(found[1:], min(sums)) for n, found in fits.items()}


def _multiples(fits: list[dict[str, float]], plain: float) -> dict[str, float]:
    costs = {stage: min(fit[stage] for fit in fits) / plain for stage in STAGES}
    return costs | {"total": sum(costs.values())}


def measured_of(sources: Path, n_rows: int, repeats: int) -> Costs:
    """The costs of the version whose sources are in a folder."""
    root = Path(__file__).parents[1]
    command = [sys.executable, "-m", "benchmarks.pass_costs", "--measure"]
    command += ["--rows", str(n_rows), "--repeats", str(repeats)]
    environment = os.environ | {"PYTHONPATH": f"{sources.resolve()}{os.pathsep}{root}"}
    done = subprocess.run(
        command, env=environment, cwd=root, stdout=subprocess.PIPE, text=True, check=True
    )
    costs: Costs = json.loads(done.stdout)
    return costs


def lowest(rounds: Iterable[Costs]) -> Costs:
    """What each stage cost when it was least disturbed, and all of them in total then."""
    rounds = list(rounds)
    found = {}
    for n_threads in rounds[0]:
        costs = {stage: min(one[n_threads][stage] for one in rounds) for stage in STAGES}
        found[n_threads] = costs | {"total": sum(costs.values())}
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3, help="turns that each version takes")
    parser.add_argument("--baseline", type=Path, help="sources of a version to compare with")
    parser.add_argument("--measure", action="store_true", help="print the costs here as JSON")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.rows, options.repeats)))
        return
    versions = {"after": Path(__file__).parents[1] / "src"}
    if options.baseline:
        versions = {"before": options.baseline} | versions
    rounds = [
        {name: measured_of(path, options.rows, options.repeats) for name, path in versions.items()}
        for _ in range(options.rounds)
    ]
    figures = {name: lowest(one[name] for one in rounds) for name in versions}
    for name, by_threads in figures.items():
        for n_threads, costs in by_threads.items():
            row = "  ".join(f"{stage} {cost:.2f}" for stage, cost in costs.items())
            print(f"{name}, {n_threads} threads: {row}")
    if options.keep:
        command = f"python -m benchmarks.pass_costs --rows {options.rows} --baseline …"
        results_file.write("pass_costs", command, figures)


if __name__ == "__main__":
    main()
