"""How long a fit takes, of clean rows and of rows with mistyped cells, beside another version.

Run ``python -m benchmarks.fit_time --against SRC``: 100,000 rows of 10 columns with gaps, four
components, the best of three fits in one thread. Versions take turns, each in a process of its
own; SRC is the folder of the other one's sources.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import other_version, results_file
from benchmarks.contaminated import Array, K, draw
from halfseen import GaussianMixture

TABLES = {"clean": "Gauss", "contaminated": "typos .2 %"}
TYPES = ("tied_spherical", "diag")
SEED = 1_000

Times = dict[str, dict[str, float]]
"""By table and type of covariance: seconds of the shortest fit."""


def seconds(values: Array, kind: str) -> float:
    """Of one fit."""
    model = GaussianMixture(K, covariance_type=kind, random_state=0, n_jobs=1)
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(values)
    return time.perf_counter() - start


def measured(n_rows: int, repeats: int) -> Times:
    """The times of the version that is imported here."""
    found: Times = {}
    for name, setting in TABLES.items():
        values = draw(setting, SEED, n_rows=n_rows).values
        for kind in TYPES:
            seconds(values[:2_000], kind)  # compiles, or reads what was compiled
        found[name] = {kind: min(seconds(values, kind) for _ in range(repeats)) for kind in TYPES}
    return found


def lowest(rounds: list[Times]) -> Times:
    """What each fit took when it was least disturbed."""
    return {
        name: {kind: min(one[name][kind] for one in rounds) for kind in TYPES} for name in TABLES
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2, help="turns that each version takes")
    parser.add_argument("--against", type=Path, help="sources of a version to compare with")
    parser.add_argument("--measure", action="store_true", help="print the times here as JSON")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.rows, options.repeats)))
        return
    versions: dict[str, Path | None] = {"this": None}
    if options.against:
        versions = {"other": options.against} | versions
    arguments = ["--rows", str(options.rows), "--repeats", str(options.repeats)]
    rounds: dict[str, list[Times]] = {name: [] for name in versions}
    for _ in range(options.rounds):
        for name, sources in versions.items():
            rounds[name].append(other_version.measured("benchmarks.fit_time", arguments, sources))
    figures = {f"seconds, {name} version": lowest(some) for name, some in rounds.items()}
    if options.against:
        ours, theirs = (figures[f"seconds, {name} version"] for name in ("this", "other"))
        figures["ratio"] = {
            name: {kind: ours[name][kind] / theirs[name][kind] for kind in TYPES} for name in TABLES
        }
    for name, times in figures.items():
        cells = (
            f"{table}, {kind} {value:.2f}"
            for table, row in times.items()
            for kind, value in row.items()
        )
        print(f"{name:>22}  " + "  ".join(cells))
    if options.keep:
        command = f"python -m benchmarks.fit_time --rows {options.rows} --against …"
        results_file.write("fit_time", command, figures)


if __name__ == "__main__":
    main()
