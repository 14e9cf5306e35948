"""The imputer beside others on real tables of numbers, with gaps of three patterns.

Of each table at most ``MOST_ROWS`` rows; about a fifth of the known cells is hidden completely at
random, at random given a column that is known, or in blocks of columns. Errors are root mean
squared errors of hidden cells in standard deviations of the column. Forests and mice take long and
are run with the first ``SLOW_SEEDS`` seeds only, and not on tables that are ``TOO_WIDE``. While the
imputer was built, seeds from ``TUNED_FROM`` on were looked at, which are not those reported.
"""

import argparse
from typing import Any

import numpy as np

from benchmarks.filling_judge import tried, warm_up
from benchmarks.filling_ways import Array
from benchmarks.real_tables import TABLES, at_hand

MOST_ROWS = 500
NAMES = (
    "wine",
    "iris",
    "diabetes",
    "breast cancer",
    "penguins",
    "digits",
    "pbc",
    "bfi",
    "support2",
    "icu",
    "sepsis",
    "ames",
)
PATTERNS = ("completely at random", "at random", "blocks")
FAST = ("imputer", "iterative", "neighbours", "means and modes")
SLOW = ("forest", "mice", "mice, regressed")
SLOW_SEEDS, TUNED_FROM = 1, 100
TOO_WIDE = ("digits", "icu", "ames", "support2", "sepsis")
"""For forests and mice, in the time that there is."""
WORSE = 1.03
HIDDEN = 0.2


def table(name: str, seed: int) -> Array:
    """Some rows of a table, and of its columns those that vary in them and are known often."""
    X = at_hand([name])[name].values
    rng = np.random.default_rng(seed)
    if len(X) > MOST_ROWS:
        X = X[np.sort(rng.choice(len(X), MOST_ROWS, replace=False))]
    often = (~np.isnan(X)).mean(axis=0) > 0.05
    varied: Array = X[:, often & (np.nanstd(X, axis=0) > 0)]
    return varied


def gaps_of(rng: np.random.Generator, X: Array, pattern: str) -> Any:
    """Cells that are hidden, all of them known; every column keeps values that differ."""
    n, d = X.shape
    hidden: Any = np.zeros(X.shape, bool)
    if pattern == "completely at random":
        hidden = rng.random(X.shape) < HIDDEN
    elif pattern == "at random":
        first = int((~np.isnan(X)).sum(axis=0).argmax())
        low = np.nan_to_num(X[:, first], nan=np.nanmedian(X[:, first]))
        rank = low.argsort(kind="stable").argsort() / n
        hidden = rng.random(X.shape) < 2 * HIDDEN * rank[:, None]
        hidden[:, first] = False
    else:
        for part in np.array_split(rng.permutation(d), 3)[:2]:
            hidden[np.ix_(rng.random(n) < 1.5 * HIDDEN, part)] = True
    hidden &= ~np.isnan(X)
    left = np.where(hidden, np.nan, X)
    hidden[:, [len(np.unique(c[~np.isnan(c)])) < 2 for c in left.T]] = False
    hidden[np.isnan(np.where(hidden, np.nan, X)).all(axis=1)] = False
    return hidden


def numbers(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """All ways on all tables, patterns and seeds."""
    warm_up()
    runs: list[dict[str, Any]] = []
    for name in asked.tables or NAMES:
        if name not in TABLES or not at_hand([name]):
            continue
        for pattern in PATTERNS:
            for seed in range(asked.first_seed, asked.first_seed + asked.seeds):
                X = table(name, seed)
                hidden = gaps_of(np.random.default_rng([seed, 1]), X, pattern)
                slow = seed - asked.first_seed < SLOW_SEEDS and name not in TOO_WIDE
                ways = asked.ways or (*FAST, *(SLOW if slow else ()))
                kinds = ["continuous"] * X.shape[1]
                run: dict[str, Any] = {"table": name, "pattern": pattern, "seed": seed}
                run["shape"] = list(X.shape)
                found = tried(ways, X, hidden, kinds)
                run["ways"] = {way: _rounded(one) for way, one in found.items()}
                runs.append(run)
                print(run, flush=True)
    return runs


def _rounded(found: dict[str, float]) -> dict[str, float]:
    return {what: round(value, 4) for what, value in found.items()}


def summed_up(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """How often the imputer is better than IterativeImputer, ranks, and times."""
    both = [run["ways"] for run in runs if {"imputer", "iterative"} <= run["ways"].keys()]
    ratios = np.array([one["imputer"]["rmse"] / one["iterative"]["rmse"] for one in both])
    found: dict[str, Any] = {"runs": runs}
    if len(ratios):
        found["beside IterativeImputer"] = {
            "runs": len(ratios),
            "better": float((ratios < 1).mean().round(4)),
            "worse by more than 3 %": int((ratios > WORSE).sum()),
            "worst ratio": float(ratios.max().round(4)),
            "geometric mean": float(np.exp(np.log(ratios).mean()).round(4)),
            "standard error": float((np.log(ratios).std() / np.sqrt(len(ratios))).round(4)),
        }
    full = [run["ways"] for run in runs if len(run["ways"]) > len(FAST)]
    if full:
        found["all ways"] = _ranked(full)
    return found


def _ranked(full: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean ranks over runs of all ways, errors and seconds as ratios to the imputer's."""
    ways = [way for way in full[0] if all(way in one for one in full)]
    errors = np.array([[one[way]["rmse"] for way in ways] for one in full])
    seconds = np.maximum([[one[way]["seconds"] for way in ways] for one in full], 0.01)
    ranks = errors.argsort(axis=1).argsort(axis=1) + 1
    own = ways.index("imputer")
    by_error = np.exp(np.log(errors / errors[:, [own]]).mean(axis=0))
    by_time = np.exp(np.log(seconds / seconds[:, [own]]).mean(axis=0))
    return {
        "runs": len(full),
        "ways": {
            way: {"rank": float(r.round(2)), "error": float(e.round(4)), "time": float(t.round(3))}
            for way, r, e, t in zip(ways, ranks.mean(axis=0), by_error, by_time, strict=True)
        },
    }
