"""What it is worth to leave out a column that follows from another, where fits say so.

Run ``python -m benchmarks.class_repeats``: tables of ``benchmarks.mixed_tables`` with 1,000 rows,
two or three classes and columns observed in 60 to 100 % of rows, in which something is said twice:
noise of two values beside its opposite, a column of two values that tells of the class, or a number
in another unit. How often the concern is raised, and how far labels agree with the truth (adjusted
Rand index) before and after it is followed; and the same where it is not raised.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import results_file
from benchmarks.mixed_tables import KINDS, draw, with_gaps, world
from halfseen import LatentClass

FIRST_SEED = 500
N_ROWS = 1000
WAYS = ("noise", "telling", "number")


def with_repeated(rng: np.random.Generator, X: Any, way: str) -> tuple[Any, dict[int, str]]:
    """A table whose last column follows from another, and the kinds of all."""
    if way == "noise":
        noise = rng.integers(2, size=len(X)).astype(float)
        more, kind = np.column_stack([noise, 1 - noise]), "binary"
    elif way == "telling":
        more, kind = X[:, [9]], "binary"
    else:
        more, kind = 2.54 * X[:, [0]], "continuous"
    added = range(X.shape[1], X.shape[1] + more.shape[1])
    return np.hstack([X, more]), {**KINDS, **dict.fromkeys(added, kind)}


def tried(seed: int, way: str) -> tuple[bool, float, float]:
    """Whether the concern is raised, and agreement with the truth before and after following it."""
    rng, k = np.random.default_rng(seed), 2 + seed % 2
    X, z = draw(rng, world(rng, k), N_ROWS)
    X, kinds = with_repeated(rng, with_gaps(rng, X, 0.6), way)
    last = X.shape[1] - 1
    given = LatentClass(k, kinds=kinds, random_state=0).fit(X)
    told = any(concern.kind == "said_twice" for concern in given.concerns(X))
    followed = LatentClass(k, kinds={**kinds, last: "ignored"}, random_state=0).fit(X)
    before, after = (adjusted_rand_score(z, model.predict(X)) for model in (given, followed))
    return told, float(before), float(after)


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=12, help="for each way")
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    for way in WAYS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seeds = range(FIRST_SEED, FIRST_SEED + asked.tables)
            found = np.array([tried(seed, way) for seed in seeds])
        told = found[:, 0] > 0
        figures[way] = {
            "tables": len(found),
            "told": int(told.sum()),
            "agreement where told, before and after": found[told, 1:].mean(axis=0).tolist(),
            "where not told": found[~told, 1:].mean(axis=0).tolist(),
        }
        print(way, figures[way], flush=True)
    if asked.keep:
        command = f"python -m benchmarks.class_repeats --tables {asked.tables}"
        results_file.write("class_repeats", command, figures)


if __name__ == "__main__":
    main()
