"""How well groups are found in tables that are not quite of the model.

Run ``python -m benchmarks.robustness``: the adjusted Rand index with the truth on 20 tables of
each setting of ``benchmarks.contaminated``, beside that of an oracle which knows the parameters,
and on real tables of which .5 % of the cells are a hundred times too large. ``--against SRC``
measures the version whose sources are in that folder instead. Seeds from ``REPORTED`` on are for
figures; ``--tuning`` takes those from 0 on, on which choices may be made.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks import other_version, real_tables, results_file
from benchmarks.contaminated import SETTINGS, Array, Labels, agreement, draw
from halfseen import GaussianMixture

REPORTED = 1_000
REAL = ("penguins", "wine", "iris", "breast cancer")
TYPES = ("tied_spherical", "tied_diag", "diag")
MISTYPED, TIMES = 0.005, 100.0

Scores = dict[str, dict[str, list[float]]]
"""By setting and estimator (or oracle): one figure a seed."""


class Labelled(NamedTuple):
    """A table, the group of each row, and how well groups could be found."""

    values: Array
    labels: Labels
    oracle: float | None


def mistyped(name: str, seed: int) -> Labelled:
    """A real table in which some cells, other ones for every seed, are a hundred times too large.

    Columns are divided by robust spreads, which 0.1 does not do by itself.
    """
    _, values, classes = real_tables.TABLES[name]()
    if classes is None:
        raise ValueError(f"{name} has no known classes. Take one of {', '.join(REAL)}.")
    wrong = np.random.default_rng(seed).random(values.shape) < MISTYPED
    return Labelled(real_tables.scaled(np.where(wrong, TIMES * values, values)), classes, None)


def table(setting: str, seed: int) -> Labelled:
    """A table of a setting, or a real one with mistyped cells."""
    if setting in REAL:
        return mistyped(setting, seed)
    drawn = draw(setting, seed)
    return Labelled(drawn.values, drawn.labels, agreement(drawn))


def estimator(n_components: int, kind: str, outliers: str) -> Any:
    """A mixture as this version has it; ``outliers`` is only passed to those that know of them."""
    model = GaussianMixture(n_components, covariance_type=kind, random_state=0)
    if outliers != "default" and "outliers" in model.get_params():
        model.set_params(outliers=None if outliers == "none" else outliers)
    return model


def known(kind: str) -> bool:
    """Whether this version has such a type of covariance."""
    try:
        GaussianMixture(1, covariance_type=kind).fit(np.random.default_rng(0).normal(size=(60, 3)))
    except ValueError:
        return False
    return True


def score(one: Labelled, kind: str, outliers: str) -> float:
    """The agreement of a fit with the truth; zero if there is no fit."""
    model = estimator(len(np.unique(one.labels)), kind, outliers)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = model.fit(one.values).predict(one.values)
        except (ValueError, np.linalg.LinAlgError) as error:
            print(f"no fit by {kind}: {error}", file=sys.stderr)
            return 0.0
    return float(adjusted_rand_score(one.labels, found))


def scores(settings: list[str], seeds: range, kinds: list[str], outliers: str) -> Scores:
    """Every setting's tables, fitted in every way by the version that is imported here."""
    found: Scores = {}
    kinds = [kind for kind in kinds if known(kind)]
    for setting in settings:
        row: dict[str, list[float]] = {name: [] for name in ("oracle", *kinds)}
        for seed in seeds:
            one = table(setting, seed)
            row["oracle"] += [] if one.oracle is None else [one.oracle]
            for kind in kinds:
                row[kind].append(score(one, kind, outliers))
        found[setting] = {name: some for name, some in row.items() if some}
    return found


def summary(found: Scores) -> dict[str, dict[str, dict[str, float]]]:
    """Means and standard errors, and of real tables all together."""
    rows = {
        setting: {name: _mean(some) for name, some in row.items()} for setting, row in found.items()
    }
    if set(REAL) <= set(found):
        rows["real tables"] = {
            kind: _mean([float(np.mean(some)) for some in zip(*tables, strict=True)])
            for kind in found[REAL[0]]
            for tables in [[found[name][kind] for name in REAL]]
        }
    return rows


def _mean(some: list[float]) -> dict[str, float]:
    error = np.std(some, ddof=1) / np.sqrt(len(some)) if len(some) > 1 else np.nan
    extremes = {"least": float(np.min(some)), "most": float(np.max(some))}
    return {"mean": float(np.mean(some)), "se": float(error), "tables": len(some)} | extremes


def shown(figures: dict[str, dict[str, dict[str, float]]]) -> str:
    """A table for people."""
    names = list(dict.fromkeys(name for row in figures.values() for name in row))
    lines = [" " * 20 + "".join(f"{name:>20}" for name in names)]
    for setting, row in figures.items():
        cells = (
            f"{row[name]['mean']:.3f} ± {row[name]['se']:.3f}" if name in row else ""
            for name in names
        )
        lines.append(f"{setting:>20}" + "".join(f"{cell:>20}" for cell in cells))
    return "\n".join(lines)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", nargs="+", default=[*SETTINGS, *REAL], metavar="SETTING")
    parser.add_argument("--types", nargs="+", default=list(TYPES), metavar="TYPE")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tuning", action="store_true", help="seeds on which choices are made")
    parser.add_argument("--outliers", default="default", help="'auto', 'none' or the default")
    parser.add_argument("--against", type=Path, help="sources of a version to measure instead")
    parser.add_argument("--measure", action="store_true", help="print every score as JSON")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    first = 0 if options.tuning else REPORTED
    if options.measure:
        seeds = range(first, first + options.seeds)
        print(json.dumps(scores(options.settings, seeds, options.types, options.outliers)))
        return
    arguments = ["--seeds", str(options.seeds), "--types", *options.types]
    arguments += ["--outliers", options.outliers, *(["--tuning"] if options.tuning else [])]
    arguments += ["--settings", *options.settings]
    found: Scores = other_version.measured("benchmarks.robustness", arguments, options.against)
    figures = summary(found)
    print(shown(figures))
    if options.keep:
        command = f"python -m benchmarks.robustness --seeds {options.seeds}"
        command += f" --types {' '.join(options.types)}"
        if options.against:
            command += " --against …"
            results_file.write("robustness_of_0_1", command, figures, options.against)
        else:
            results_file.write("robustness", command, figures)


if __name__ == "__main__":
    main()
