"""The way of the rows through the modules of the package during one fit.

Run ``python -m benchmarks.rows_way``: ``GaussianMixture(4).fit(X)`` of a table with gaps, of a few
rows more than are put into canonical order first (``inference/small_tables.py``), by moments alone
and as a whole, with outliers looked for and several starts, the second of its kind in its process:
what is compiled at first use is not on the way.
Counted are calls of Python functions of halfseen, those that Python makes of
comprehensions among them and compiled ones not: a module is on the way if a function of it is
called, and a switch is a call into another module than that of the call before, the first call
being one. Returns count for nothing. By this rule version 0.1, which does not look for outliers and
has one start, has 46 modules and 239 switches as a whole, the first in its process.
``--sources SRC`` counts those of another version, whose sources are in that folder.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import halfseen
from benchmarks import results_file
from halfseen import GaussianMixture, simulate

Array = NDArray[np.float64]
PACKAGE = Path(halfseen.__file__).parent
N_COMPONENTS = 4
MOST_SHOWN = 12


def table(n_rows: int = 6000, n_features: int = 10, n_complete: int = 6) -> Array:
    """Four groups, and four features with gaps."""
    rng = np.random.default_rng(0)
    means = rng.normal(scale=2.0, size=(N_COMPONENTS, n_features))
    X, _ = simulate.gaussian_mixture(n_rows, np.full(N_COMPONENTS, 0.25), means, 1.0, rng)
    observed = np.ones(n_features)
    observed[n_complete:] = rng.uniform(0.1, 0.9, size=n_features - n_complete)
    return simulate.independent_gaps(X, observed, rng)


MOMENTS: dict[str, Any] = {"outliers": None, "refine": None}
"""Parameters of a fit by moments alone."""


def called(X: Array, **parameters: Any) -> list[str]:
    """The module of each call, in order."""
    modules: list[str] = []

    def hear(frame: FrameType, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            modules.append(".".join(path.relative_to(PACKAGE).with_suffix("").parts))

    model = GaussianMixture(N_COMPONENTS, **parameters).fit(X)
    sys.setprofile(hear)
    try:
        model.fit(X)
    finally:
        sys.setprofile(None)
    return modules


def entered(modules: list[str]) -> Counter[str]:
    """How often each module is switched to."""
    return Counter(module for module, _ in groupby(modules))


def main() -> None:
    """Count, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, help="of the version to count")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    if options.sources:
        root = Path(__file__).parents[1]
        path = f"{options.sources.resolve()}{os.pathsep}{root}"
        command = [sys.executable, "-m", "benchmarks.rows_way"]
        subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, cwd=root, check=True)
        return
    figures: dict[str, Any] = {}
    for name, parameters in {"by moments": MOMENTS, "as a whole": {}}.items():
        times = entered(called(table(), **parameters))
        print(f"{name}: modules {len(times)}  switches {times.total()}")
        for module, number in times.most_common(MOST_SHOWN):
            print(f"{number:4d}  {module}")
        figures[name] = {
            "modules": len(times),
            "switches": times.total(),
            "entered": dict(times),
        }
    if options.keep:
        results_file.write("rows_way", "python -m benchmarks.rows_way", figures)


if __name__ == "__main__":
    main()
