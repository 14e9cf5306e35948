"""How well gaps are filled by the imputer and by others, on real tables, and whether draws cover.

Run ``python -m benchmarks.imputing`` with one of these:

``mixed``
    Real tables of mixed columns; see ``imputing_mixed``.
``numbers``
    Real tables of numbers, from which cells are taken completely at random, at random given other
    columns, or in blocks; see ``imputing_numbers``.
``coverage``
    How often 95 % intervals pooled from draws hold a mean, a correlation and a slope; see
    ``imputing_coverage``.
``large``
    Time and memory for all of SUPPORT2.
``files``
    The same on the command line, for files of more and more rows; see ``imputing_files``.

``--keep`` adds to what is kept, or replaces what is of the same table, seed and way, so that parts
can be measured one after another. Set OPENBLAS_NUM_THREADS=1 and OMP_NUM_THREADS=1 to compare
seconds. Tables that are not at hand are left out.
"""

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks import (
    imputing_coverage,
    imputing_files,
    imputing_mixed,
    imputing_numbers,
    results_file,
)
from benchmarks.real_tables import find
from halfseen import Imputer

Runs = list[dict[str, Any]]
KEY = ("way", "world", "table", "pattern", "seed", "rows")
"""What tells runs apart."""


def large(asked: argparse.Namespace) -> Runs:
    """All of SUPPORT2: seconds, and the most memory that the process had."""
    frame = import_module("pandas").read_csv(find("support2.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        imputer = Imputer().fit(frame)
        fitted = time.process_time()
        imputer.transform(frame)
        filled = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {
        "table": "support2",
        "shape": list(frame.shape),
        "seconds to fit": round(fitted - begun, 1),
        "seconds to fill": round(filled - fitted, 1),
        "peak MB": round(peak),
    }
    print(figures)
    return [figures]


def with_kept(what: str, runs: Runs) -> Runs:
    """These, and what is kept of others: ways of one run are put together."""
    if not (results_file.FOLDER / f"imputing_{what}.json").exists():
        return runs
    kept: Runs = results_file.figures(f"imputing_{what}").get("runs", [])
    found = {_key(run): run for run in kept}
    for run in runs:
        before = found.get(_key(run), {})
        both = {"ways": before.get("ways", {}) | run["ways"]} if "ways" in run else {}
        found[_key(run)] = before | run | both
    return list(found.values())


def _key(run: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(run.get(name) for name in KEY)


def main() -> None:
    """Print figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(PARTS))
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--ways", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--forest", action="store_true")
    parser.add_argument("--all-rows", action="store_true", help="of mixed tables, not some of them")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    measure, summed_up = PARTS[asked.what]
    runs = measure(asked)
    if asked.keep:
        runs = with_kept(asked.what, runs)
    figures = summed_up(runs)
    print({name: figure for name, figure in figures.items() if name != "runs"})
    if asked.keep:
        command = f"python -m benchmarks.imputing {asked.what}"
        results_file.write(f"imputing_{asked.what}", command, figures)


def as_they_are(runs: Runs) -> dict[str, Any]:
    """Nothing to sum up."""
    return {"runs": runs}


PARTS: dict[str, tuple[Callable[[argparse.Namespace], Runs], Callable[[Runs], dict[str, Any]]]] = {
    "mixed": (imputing_mixed.mixed, imputing_mixed.summed_up),
    "coverage": (imputing_coverage.coverage, as_they_are),
    "numbers": (imputing_numbers.numbers, imputing_numbers.summed_up),
    "large": (large, as_they_are),
    "files": (imputing_files.files, as_they_are),
}


if __name__ == "__main__":
    main()
