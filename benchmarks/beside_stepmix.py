"""Classes beside those of StepMix with fifty starts: likelihood and time, in one run.

Run ``python -m benchmarks.beside_stepmix --rows 1000`` where StepMix is installed (``pip install
stepmix``):
four continuous columns, three of categories and three of two values, no counts, which it has not;
columns observed in 20 to 100 % of rows. Both likelihoods are of the observed cells under the same
model, independent normal and categorical columns given the class. Seconds are of the processor,
so that a machine that is busy otherwise tells the same; give both one thread
(``OMP_NUM_THREADS=1``).

Where the best of its starts is higher, other rows of the same truth tell whether it is nearer to
it: ``nats more, other rows`` is the same difference for as many rows, from the mean of 20,000
others. What it has and a fit here has not are classes of a few rows with narrow spreads, whose
prior here is worth one row of the whole table, and categories of probability zero; the size of the
``smallest class`` of both, in rows, shows them.
"""

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from benchmarks import results_file
from benchmarks.mixed_tables import draw, with_gaps, world
from halfseen import LatentClass

FIRST_SEED = 3000
CONTINUOUS, CATEGORIES, PAIRS = (0, 1, 2, 3), (6, 7, 8), (9, 10, 11)
COLUMNS = [*CONTINUOUS, *CATEGORIES, *PAIRS]
KINDS = dict(
    enumerate(
        ["continuous"] * len(CONTINUOUS)
        + ["categorical"] * len(CATEGORIES)
        + ["binary"] * len(PAIRS)
    )
)


OTHERS = 20_000


class Found(NamedTuple):
    """What a fit came to."""

    height: float  # log-likelihood of all rows
    elsewhere: float  # the mean of other rows
    smallest: float  # rows of the smallest class
    seconds: float  # of the processor


def theirs(X: Any, others: Any, k: int, n_starts: int) -> Found:
    """Of the best of their starts."""
    from importlib import import_module

    pd, StepMix = import_module("pandas"), import_module("stepmix.stepmix").StepMix

    names = [f"x{i}" for i in range(X.shape[1])]
    n, m = len(CONTINUOUS), len(CATEGORIES)
    measurement = {
        "numbers": {"model": "gaussian_diag_nan", "n_columns": n},
        "categories": {"model": "categorical_nan", "n_columns": m},
        "pairs": {"model": "binary_nan", "n_columns": len(PAIRS)},
    }
    start = time.process_time()
    model = StepMix(
        n_components=k,
        measurement=measurement,
        n_init=n_starts,
        random_state=0,
        progress_bar=0,
        verbose=0,
    ).fit(pd.DataFrame(X, columns=names))
    took = time.process_time() - start
    height, elsewhere = (float(model.score(pd.DataFrame(Y, columns=names))) for Y in (X, others))
    return Found(height * len(X), elsewhere, float(model.weights_.min()) * len(X), took)


def ours(X: Any, others: Any, k: int) -> Found:
    """The same of one call."""
    start = time.process_time()
    model = LatentClass(k, kinds=KINDS, random_state=0).fit(X)
    took = time.process_time() - start
    smallest = float(model.weights_.min()) * len(X)
    return Found(float(model.score_samples(X).sum()), float(model.score(others)), smallest, took)


def drawn(seed: int, n_rows: int) -> tuple[Any, Any, int]:
    """A table, others of the same truth with gaps as often, and the number of classes."""
    rng, k = np.random.default_rng(seed), 2 + seed % 3
    truth = world(rng, k)
    X = with_gaps(rng, draw(rng, truth, n_rows)[0])[:, COLUMNS]
    others = draw(rng, truth, OTHERS)[0][:, COLUMNS]
    others[rng.random(others.shape) < np.isnan(X).mean(axis=0)] = np.nan
    return _with_something(X), _with_something(others), k


def _with_something(X: Any) -> Any:
    return X[~np.isnan(X).all(axis=1)]


def beside(one: Found, another: Found, n_rows: int, k: int) -> dict[str, Any]:
    """A line of the result."""
    return {
        "rows": n_rows,
        "classes": k,
        "nats more": one.height - another.height,
        "nats more, other rows": (one.elsewhere - another.elsewhere) * n_rows,
        "smallest class": [one.smallest, another.smallest],
        "seconds": one.seconds,
        "theirs": another.seconds,
        "times faster": another.seconds / one.seconds,
    }


def main() -> None:
    """Print both, table by table, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--tables", type=int, default=6)
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    found = []
    warm, _, k = drawn(0, 500)
    ours(warm, warm, k)  # compiled
    for seed in range(asked.seed, asked.seed + asked.tables):
        X, others, k = drawn(seed, asked.rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, another = ours(X, others, k), theirs(X, others, k, asked.starts)
        found.append(beside(one, another, asked.rows, k))
        print(found[-1], flush=True)
    if asked.keep:
        command = (
            f"python -m benchmarks.beside_stepmix --rows {asked.rows} --tables {asked.tables} "
            f"--seed {asked.seed} --starts {asked.starts}"
        )
        results_file.write(f"beside_stepmix_{asked.rows}", command, found)


if __name__ == "__main__":
    main()
