"""How often auto finds the true number of components, and what it makes of real tables.

Run ``python -m benchmarks.auto``: for each kind of table 60 of them, with 1 to 6 components and 500
to 20,000 rows of 8 to 12 columns whose noise differs. Means are drawn so that any two components
are at least 4.5 standard deviations apart (all columns together), and no component is rarer than
5 %: what a table of that size can tell. ``--real`` takes the tables of ``HALFSEEN_DATA`` instead.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from joblib import Parallel, delayed

from benchmarks import results_file
from benchmarks.reproduce import data_folder
from halfseen import DataError, GaussianMixture, choose_components
from halfseen.data.arrays import Array

NUMBERS, SIZES = (1, 2, 3, 4, 5, 6), (500, 1000, 2000, 5000, 20_000)
APART, RAREST = 4.5, 0.05
FIRST_SEED = 70_000
"""Tables of seeds below were looked at while the rule was made."""


def normal(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Noise as the model has it."""
    return rng.normal(size=shape)


def heavy(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Student's t with three degrees of freedom, of standard deviation one."""
    return np.asarray(rng.standard_t(3, shape) / np.sqrt(3))


def correlated(shape: tuple[int, int], rng: np.random.Generator) -> Array:
    """Columns that go along with each other by two factors, of standard deviation one."""
    pattern = rng.normal(size=(2, shape[1]))
    noise = rng.normal(size=(shape[0], 2)) @ pattern + rng.normal(size=shape)
    return np.asarray(noise / np.sqrt(1 + np.sum(pattern**2, axis=0)))


def as_it_is(X: Array, rng: np.random.Generator) -> Array:
    """Nothing happens to the table."""
    return X


def mistyped(X: Array, rng: np.random.Generator) -> Array:
    """0.2 % to 0.5 % of cells have a digit too many."""
    wrong = rng.random(X.shape) < rng.uniform(0.002, 0.005)
    sizes = rng.uniform(20, 200, X.shape) * rng.choice([-1, 1], X.shape)
    return np.where(wrong, X + sizes, X)


def gappy(X: Array, rng: np.random.Generator) -> Array:
    """Each column is missing by itself, from never to in half of the rows."""
    missing = np.linspace(0, 0.5, X.shape[1])
    return np.where(rng.random(X.shape) < missing, np.nan, X)


Noise = Callable[[tuple[int, int], np.random.Generator], Array]
Change = Callable[[Array, np.random.Generator], Array]
KINDS: dict[str, tuple[Noise, Change]] = {
    "clean": (normal, as_it_is),
    "gaps": (normal, gappy),
    "typos": (normal, mistyped),
    "t3": (heavy, as_it_is),
    "correlated": (correlated, as_it_is),
}


def table(kind: str, seed: int) -> tuple[Array, int]:
    """A table of that kind, and how many components it has."""
    rng = np.random.default_rng(seed)
    k = NUMBERS[seed % len(NUMBERS)]
    n = SIZES[seed // len(NUMBERS) % len(SIZES)]
    means = apart(k, int(rng.integers(8, 13)), rng)
    shares = common(k, rng)
    noise, change = KINDS[kind]
    label = rng.choice(k, n, p=shares)
    X = means[label] + noise((n, means.shape[1]), rng)
    return change(X * rng.uniform(0.6, 1.6, X.shape[1]), rng), k


def apart(k: int, d: int, rng: np.random.Generator) -> Array:
    """Means (k, d), the typical two of which are 6 apart, and none nearer than ``APART``."""
    while True:
        means = rng.normal(0, 6 / np.sqrt(2 * d), (k, d))
        distance = np.linalg.norm(means[:, None] - means[None], axis=2)
        if k == 1 or distance[np.triu_indices(k, 1)].min() >= APART:
            return means


def common(k: int, rng: np.random.Generator) -> Array:
    """Shares (k,), none below ``RAREST``."""
    while True:
        shares = rng.dirichlet(np.full(k, 5.0))
        if shares.min() >= RAREST:
            return shares


def chosen(kind: str, covariance: str, seed: int) -> dict[str, Any]:
    """What auto makes of one table, and how many fits that takes."""
    X, k = table(kind, seed)
    estimator = GaussianMixture(covariance_type=covariance, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        choice = choose_components(X, estimator)
        between = time.perf_counter()
        estimator.set_params(n_components=choice.n_components).fit(X)
        seconds = between - start, time.perf_counter() - between
    return {
        "kind": kind,
        "seed": seed,
        "true": k,
        "rows": len(X),
        "chosen": choice.n_components,
        "times a fit": seconds[0] / seconds[1],
        "seconds": seconds[0],
    }


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Shares of exact, too large and too small choices, and errors by size."""
    errors = np.array([one["chosen"] - one["true"] for one in found])
    return {
        "tables": len(found),
        "exact": float(np.mean(errors == 0)),
        "too many": float(np.mean(errors > 0)),
        "too few": float(np.mean(errors < 0)),
        "errors": {str(e): n for e, n in sorted(Counter(errors.tolist()).items())},
        "times a fit, median": float(np.median([one["times a fit"] for one in found])),
    }


ITEMS = [f"{letter}{number}" for letter in "ACENO" for number in range(1, 6)]
ASIDE = {
    "ames": ["Id", "PID"],
    "support2": ["Index", "death", "hospdead", "d.time", "sfdm2"],
    "icu": ["RecordID", "In-hospital_death"],
    "penguins": ["rownames", "year"],
    "pbc": ["rownames", "id", "time", "status"],
    "mammo": ["Severity"],
}
"""What is no measurement: identifiers and outcomes."""


def real_tables() -> dict[str, pd.DataFrame]:
    """Columns of numbers of the real tables at hand."""
    tables = {"bfi": _read("bfi")[ITEMS]}
    for name, aside in ASIDE.items():
        tables[name] = _read(name).drop(columns=aside).select_dtypes("number")
    tables["mammo without 55"] = tables["mammo"][tables["mammo"]["BI-RADS"] != 55]
    return tables


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(folder() / f"{name}.csv", na_values="?")


def folder() -> Path:
    """Where the real tables are."""
    found = data_folder.find("tables/bfi.csv")
    if found is None:
        raise DataError("The real tables are not at hand. Set HALFSEEN_DATA to their folder.")
    return found.parent


def of_real_table(frame: pd.DataFrame, covariance: str) -> dict[str, Any]:
    """What auto makes of a real table, columns divided by their standard deviations."""
    scaled = (frame - frame.mean()) / frame.std()
    model = GaussianMixture("auto", covariance_type=covariance, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(scaled)
        seconds = time.perf_counter() - start
    outside = (model.means_ < scaled.min().to_numpy()) | (model.means_ > scaled.max().to_numpy())
    choice = model.diagnostics_.choice
    return {
        "rows": len(frame),
        "columns": frame.shape[1],
        "chosen": model.n_components_,
        "smallest": float(model.weights_.min()),
        "means outside the range": int(outside[:, model.kept_features_].sum()),
        "seconds": seconds,
        "reason": choice.reason,
        "tried": [asdict(one) for one in choice.held_out],
    }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=60, help="tables of each kind")
    parser.add_argument("--first", type=int, default=FIRST_SEED, help="the first seed")
    parser.add_argument("--kind", choices=KINDS, action="append", help="only these")
    parser.add_argument("--covariance", default="diag")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--real", action="store_true", help="the real tables")
    parser.add_argument("--table", help="only this real table")
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    figures: dict[str, Any] = {}
    if options.real:
        for name, frame in real_tables().items():
            if options.table in (None, name):
                figures[name] = of_real_table(frame, options.covariance)
                print(name, figures[name], flush=True)
    for kind in () if options.real else options.kind or KINDS:
        found = Parallel(options.jobs)(
            delayed(chosen)(kind, options.covariance, options.first + seed)
            for seed in range(options.sets)
        )
        figures[kind] = summary(found)
        print(kind, figures[kind], flush=True)
        print([one for one in found if one["chosen"] != one["true"]], flush=True)
    if options.keep:
        name = f"auto_{'real' if options.real else 'simulated'}_{options.covariance}"
        shown = "--real" if options.real else f"--sets {options.sets}"
        command = f"python -m benchmarks.auto {shown} --covariance {options.covariance}"
        results_file.write(name, command, figures)


if __name__ == "__main__":
    main()
