"""Classes beside those of StepMix with fifty starts: likelihood and time, in one run.

Run ``python -m benchmarks.beside_stepmix --rows 1000`` where StepMix is installed (``pip install
stepmix``):
four continuous columns, three of categories and three of two values, no counts, which it has not;
columns observed in 20 to 100 % of rows. Both likelihoods are of the observed cells under the same
model, independent normal and categorical columns given the class. Seconds are of the processor,
so that a machine that is busy otherwise tells the same; give both one thread
(``OMP_NUM_THREADS=1``).
"""

import argparse
import time
import warnings
from typing import Any

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


def theirs(X: Any, k: int, n_starts: int) -> tuple[float, float]:
    """The log-likelihood of all rows, and seconds of the processor."""
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
    return float(model.score(pd.DataFrame(X, columns=names)) * len(X)), took


def ours(X: Any, k: int) -> tuple[float, float]:
    """The same of one call."""
    start = time.process_time()
    model = LatentClass(k, kinds=KINDS, random_state=0).fit(X)
    took = time.process_time() - start
    return float(model.score_samples(X).sum()), took


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
    rng = np.random.default_rng(0)
    warm, _ = draw(rng, world(rng, 2), 500)
    ours(warm[:, COLUMNS], 2)  # compiled
    for seed in range(asked.seed, asked.seed + asked.tables):
        rng, k = np.random.default_rng(seed), 2 + seed % 3
        X, _ = draw(rng, world(rng, k), asked.rows)
        X = with_gaps(rng, X)[:, COLUMNS]
        X = X[~np.isnan(X).all(axis=1)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one, another = ours(X, k), theirs(X, k, asked.starts)
        found.append(
            {
                "rows": asked.rows,
                "classes": k,
                "nats more": one[0] - another[0],
                "seconds": one[1],
                "theirs": another[1],
                "times faster": another[1] / one[1],
            }
        )
        print(found[-1], flush=True)
    if asked.keep:
        command = (
            f"python -m benchmarks.beside_stepmix --rows {asked.rows} --tables {asked.tables} "
            f"--seed {asked.seed} --starts {asked.starts}"
        )
        results_file.write(f"beside_stepmix_{asked.rows}", command, found)


if __name__ == "__main__":
    main()
