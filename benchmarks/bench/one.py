"""One entrant of one case, in a process of its own: ``python -m benchmarks.bench.one``.

Prints one line of JSON, the last of its output: peers print what they like before.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from benchmarks.bench.case import Case, Entrant
from benchmarks.bench.cases import CASES
from benchmarks.bench.clock import taken


def measured(case: Case, title: str, name: str, threads: int) -> dict[str, Any]:
    """Errors, seconds and memory of one entrant on one table."""
    entrant = case.entrants[name]
    if case.warm is not None:
        with suppress(Exception):  # what fails on a small table may do well on a large one
            _call(entrant, case.draw(**case.warm), threads)()
    data = case.draw(**case.setting(title).values)
    given, took = taken(_call(entrant, data, threads))
    return {
        "errors": {name: float(error) for name, error in case.judge(data, given).items()},
        "seconds": took.seconds,
        "processor": took.processor,
        "peak MB": took.peak,
    }


def _call(entrant: Entrant, data: Any, threads: int) -> Callable[[], Any]:
    prepared = entrant.prepare(data)
    return lambda: entrant.call(prepared, threads)


def main() -> None:
    """Measure what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("setting")
    parser.add_argument("entrant")
    parser.add_argument("threads", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = measured(CASES[asked.case], asked.setting, asked.entrant, asked.threads)
    print(f"\n{json.dumps(found)}", flush=True)


if __name__ == "__main__":
    main()
