"""How well topics are found in counts that are not quite of the model.

Run ``python -m benchmarks.topic_outliers``: 20 tables of each kind, 5,000 rows of 20 words with
gaps, four topics, by moments, and the first of them by stochastic EM. The error is the mean over
topics of Σ|found - true| (L1, at most 2). ``--against SRC`` measures the version whose sources are
in that folder instead. Seeds from ``REPORTED`` on are for figures; ``--tuning`` takes those from 0.
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from benchmarks import other_version, results_file
from benchmarks.contaminated import Array
from benchmarks.robustness import REPORTED, Scores, shown, summary
from halfseen import GammaPoisson

N_ROWS, N_WORDS, K = 5_000, 20, 4
N_COMPLETE = 10
LENGTH = 100.0  # mean number of words a row
CONCENTRATION = 0.5  # of the words of a topic; lower is easier
WAYS: dict[str, dict[str, Any]] = {"moments": {}, "saem": {"refine": "saem"}}
MOST_STOCHASTIC = 8
"""Tables of a kind that are refined by stochastic EM, which takes half a minute each."""


class Counted(NamedTuple):
    """Counts with gaps, and the topics behind them."""

    values: Array  # (n, d)
    topics: Array  # (k, d)


def clean(rates: Array, rng: np.random.Generator) -> Array:
    """Poisson counts given the loadings: nothing is wrong."""
    return rng.poisson(rates).astype(float)


def wild_cell(rates: Array, rng: np.random.Generator) -> Array:
    """One cell, of a complete column, is 5,000."""
    counts = clean(rates, rng)
    counts[rng.integers(len(counts)), rng.integers(N_COMPLETE)] = 5_000.0
    return counts


def long_rows(rates: Array, rng: np.random.Generator) -> Array:
    """Five rows are sixty times as long as they would be."""
    times = np.ones(len(rates))
    times[rng.choice(len(rates), 5, replace=False)] = 60.0
    return clean(times[:, None] * rates, rng)


def bursty(rates: Array, rng: np.random.Generator) -> Array:
    """Words that were used once are used again: negative binomial given the loadings."""
    return clean(rates * rng.gamma(1.0, 1.0, rates.shape), rng)


KINDS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "clean": clean,
    "one wild cell": wild_cell,
    "five long rows": long_rows,
    "bursty words": bursty,
}


def draw(kind: str, seed: int, n_rows: int = N_ROWS) -> Counted:
    """A table of a kind; a seed has the same topics, loadings and gaps in every kind."""
    rng, noise, gaps = (np.random.default_rng([seed, stream]) for stream in range(3))
    topics = rng.dirichlet(np.full(N_WORDS, CONCENTRATION), K)
    loadings = rng.gamma(1.0, LENGTH / K, (n_rows, K))
    observed = np.ones(N_WORDS)
    observed[N_COMPLETE:] = gaps.uniform(0.3, 0.9, N_WORDS - N_COMPLETE)
    counts = KINDS[kind](loadings @ topics, noise)
    return Counted(np.where(gaps.random(counts.shape) < observed, counts, np.nan), topics)


def error(found: Array, true: Array) -> float:
    """Mean L1 distance of topics, matched so that it is least."""
    away = np.abs(found[:, None] - true).sum(axis=2)  # (found, true)
    return float(away[linear_sum_assignment(away)].sum() / len(true))


def scores(kinds: list[str], seeds: range, ways: list[str], n_rows: int) -> Scores:
    """Every kind's tables, fitted in every way by the version that is imported here."""
    found: Scores = {kind: {way: [] for way in ways} for kind in kinds}
    for kind in kinds:
        for seed in seeds:
            values, topics = draw(kind, seed, n_rows)
            for way in ways:
                if WAYS[way] and seed - seeds[0] >= MOST_STOCHASTIC:
                    continue
                with threadpool_limits(1), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = GammaPoisson(K, random_state=0, **WAYS[way]).fit(values)
                found[kind][way].append(error(model.components_, topics))
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS, metavar="KIND")
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS, metavar="WAY")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--tuning", action="store_true", help="seeds on which choices are made")
    parser.add_argument("--against", type=Path, help="sources of a version to measure instead")
    parser.add_argument("--measure", action="store_true", help="print every error as JSON")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    first = 0 if options.tuning else REPORTED
    if options.measure:
        seeds = range(first, first + options.seeds)
        print(json.dumps(scores(options.kinds, seeds, options.ways, options.rows)))
        return
    arguments = ["--seeds", str(options.seeds), "--rows", str(options.rows)]
    arguments += ["--kinds", *options.kinds, "--ways", *options.ways]
    arguments += ["--tuning"] if options.tuning else []
    found: Scores = other_version.measured("benchmarks.topic_outliers", arguments, options.against)
    figures = summary(found)
    print(shown(figures))
    if options.keep:
        command = f"python -m benchmarks.topic_outliers --seeds {options.seeds}"
        if options.against:
            command += " --against …"
            results_file.write("topic_outliers_of_0_1", command, figures, options.against)
        else:
            results_file.write("topic_outliers", command, figures)


if __name__ == "__main__":
    main()
