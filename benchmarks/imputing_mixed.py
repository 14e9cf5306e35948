"""The imputer beside others on real tables of mixed columns.

At most 2,000 rows, or all with ``--all-rows``, a tenth of the known cells hidden. Columns of
numbers are judged by root mean squared error in standard deviations, columns of categories by log-
loss (no probability below a thousandth). Beside the imputer: gradient-boosted trees column by
column (untuned, one pass); with the first seed also column means and modes, nearest neighbours,
IterativeImputer (categories as dummies with one dropped, fills clipped to the range), lace where
it is installed, and with ``--forest`` chained ExtraTrees.
Figures are ratios to the boosted trees, as geometric means. The
imputer was tuned on ``TUNED`` tables, with seed 0 and with seeds from 10 on, and only confirmed on
the others.
"""

import argparse
from importlib import import_module
from typing import Any

import numpy as np
from sklearn import datasets

from benchmarks.class_filling import coded
from benchmarks.filling_judge import tried, warm_up
from benchmarks.filling_ways import Array, known_of
from benchmarks.real_tables import find

Runs = list[dict[str, Any]]
HIDDEN, MOST_ROWS = 0.1, 2000
USUAL, OTHERS = (
    ("imputer", "its classes alone", "boosted"),
    ("means and modes", "neighbours", "iterative", "lace"),
)
TUNED = ("election", "titanic", "support2", "penguins", "mammo", "wine", "icu")
CONFIRMED = ("ames", "pbc", "bfi", "breast cancer", "diabetes")
BUNDLED = {
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
    "iris": datasets.load_iris,
}


def load(name: str, rng: np.random.Generator, every: bool) -> tuple[Array, list[str]]:
    """A table as numbers, some of its rows if not ``every``, and the kinds of its columns."""
    pd = import_module("pandas")
    if name in BUNDLED:
        values = BUNDLED[name](return_X_y=True)[0]
        frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])
    else:
        frame = pd.read_csv(find(f"{name}.csv"))
    if len(frame) > MOST_ROWS and not every:
        frame = frame.iloc[np.sort(rng.choice(len(frame), MOST_ROWS, replace=False))]
    return coded(frame.reset_index(drop=True))


def at_hand(name: str) -> bool:
    """Whether there is such a table."""
    return name in BUNDLED or find(f"{name}.csv") is not None


def one_table(name: str, seed: int, ways: list[str], every: bool) -> dict[str, Any]:
    """Some ways on one table."""
    rng = np.random.default_rng(seed)
    X, kinds = load(name, rng, every)
    hidden = ~np.isnan(X) & (rng.random(X.shape) < HIDDEN)
    gappy = np.where(hidden, np.nan, X)
    varied = [len(np.unique(known_of(gappy, d))) > 1 for d in range(X.shape[1])]
    some = (~np.isnan(gappy)).any(axis=1)
    X, hidden = X[some][:, varied], hidden[some][:, varied]
    kinds = [kind for kind, keep in zip(kinds, varied, strict=True) if keep]
    return ({"rows": "all"} if every else {}) | {
        "table": name,
        "seed": seed,
        "shape": list(X.shape),
        "ways": tried(ways, X, hidden, kinds),
    }


def mixed(asked: argparse.Namespace) -> Runs:
    """All ways on all tables."""
    warm_up()
    runs = []
    for name in filter(at_hand, asked.tables or (*TUNED, *CONFIRMED)):
        for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
            more = (*OTHERS, *(["forest"] if asked.forest else []))
            ways = asked.ways or [*USUAL, *(more if seed == asked.first_seed else [])]
            runs.append(one_table(name, seed, ways, asked.all_rows))
            print(runs[-1], flush=True)
    return runs


def summed_up(runs: Runs) -> dict[str, Any]:
    """Ratios to boosted trees, to the imputer's own classes, and to lace."""
    found: dict[str, Any] = {"runs": runs}
    parts = {"tuned on": TUNED, "confirmed on": CONFIRMED, "all": (*TUNED, *CONFIRMED)}
    whole = [run for run in runs if run.get("rows") == "all"]
    some = [run for run in runs if run.get("rows") != "all"]
    each = {part: [r for r in some if r["table"] in names] for part, names in parts.items()}
    for part, own in {**each, "all rows": whole}.items():
        if not own:
            continue
        ways = list(dict.fromkeys(way for run in own for way in run["ways"]))
        found[part] = {
            "by boosted trees": {way: _means(own, way, "boosted") for way in ways},
            "beside its classes": _beside(own, "its classes alone"),
            "beside lace": _beside(own, "lace") | _times(own, "lace"),
            "beside boosted trees": _times(own, "boosted"),
        }
    return found


def _ratios(runs: Runs, way: str, to: str, what: str) -> Array:
    pairs = [
        (run["ways"][way][what], run["ways"][to][what])
        for run in runs
        if what in run["ways"].get(way, {}) and what in run["ways"].get(to, {})
    ]
    return np.array([one / max(other, 1e-9) for one, other in pairs])


def _means(runs: Runs, way: str, to: str) -> dict[str, float]:
    """Geometric means of ratios, and the standard error of their logarithms."""
    found = {}
    for what in ("rmse", "log_loss"):
        logs = np.log(_ratios(runs, way, to, what))
        if len(logs):
            found[what] = round(float(np.exp(logs.mean())), 4)
            found[f"{what}, standard error"] = round(float(logs.std() / np.sqrt(len(logs))), 4)
    return found


def _beside(runs: Runs, other: str) -> dict[str, Any]:
    """How often the imputer is better, and how much worse at worst."""
    every = {what: _ratios(runs, "imputer", other, what) for what in ("rmse", "log_loss")}
    both = np.concatenate(list(every.values()))
    if not len(both):
        return {}
    found: dict[str, Any] = {"compared": len(both), "better": round(float((both < 1).mean()), 4)}
    for what, each in every.items():
        if len(each):
            found[f"{what}, worst"] = round(float(each.max()), 4)
    return found


def _times(runs: Runs, other: str) -> dict[str, float]:
    """The imputer's share of the seconds of another way: geometric mean, and most."""
    seconds = _ratios(runs, "imputer", other, "seconds")
    if not len(seconds):
        return {}
    mean = float(np.exp(np.log(seconds).mean()))
    return {"time": round(mean, 3), "time, most": round(float(seconds.max()), 3)}
