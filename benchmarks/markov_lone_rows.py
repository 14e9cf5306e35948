"""What rows without neighbours add to few short sequences.

Run ``python -m benchmarks.markov_lone_rows``: 30 sequences of 20 rows of stationary chains with 3
states and 8 or 5 columns, 30 % of cells missing, with and without 5,000 rows drawn alone. Errors
are of means (root mean square, standard deviations of columns within states) and of transitions
(mean over states of the summed absolute differences).
"""

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.markov_tables import chain, draw, matched, stationary
from halfseen import HiddenMarkov

K = 3


def errors(seed: int, d: int, n_lone: int) -> tuple[float, float]:
    """Of means and of transitions."""
    rng = np.random.default_rng([seed, d])
    of = chain(rng, K, d)
    of = of._replace(start=stationary(of.transition), means=1.3 * of.means)
    X, _ = draw(rng, of, 30, 20)
    lone, _ = draw(rng, of, 5000, 1)
    X, lone = (np.where(rng.random(part.shape) < 0.7, part, np.nan) for part in (X, lone))
    model: Any = HiddenMarkov(K, outliers=None, random_state=0)
    model.fit(X, lengths=[20] * 30, X_single=lone[:n_lone] if n_lone else None)
    order = matched(model.means_, of.means)
    means = np.sqrt(np.mean((model.means_[order] - of.means) ** 2))
    moves = np.abs(model.transition_[np.ix_(order, order)] - of.transition).sum(axis=1).mean()
    return float(means), float(moves)


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = {}
    for d in (8, 5):
        seeds = range(asked.seed, asked.seed + asked.tables)
        alone, beside = (np.mean([errors(seed, d, n) for seed in seeds], axis=0) for n in (0, 5000))
        figures[f"{d} columns"] = {
            "means alone": float(alone[0]),
            "means with lone rows": float(beside[0]),
            "times smaller": float(alone[0] / beside[0]),
            "transitions alone": float(alone[1]),
            "transitions with lone rows": float(beside[1]),
        }
        print(d, figures[f"{d} columns"], flush=True)
    if asked.keep:
        results_file.write(
            "markov_lone_rows",
            f"python -m benchmarks.markov_lone_rows --tables {asked.tables}",
            figures,
        )


if __name__ == "__main__":
    main()
