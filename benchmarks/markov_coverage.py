"""How often 95 % intervals of chains hold the truth.

Run ``python -m benchmarks.markov_coverage --tables 100``: 100 sequences of 50 rows, 3 states, 6
columns observed in 40 to 100 % of rows.
"""

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.markov_tables import chain, draw, matched, with_gaps
from halfseen import HiddenMarkov

K, D, S, T = 3, 6, 100, 50


def held(seed: int) -> dict[str, Any]:
    """Of every mean, transition and start, whether its interval holds the truth."""
    rng = np.random.default_rng([seed, 5])
    of = chain(rng, K, D)
    of = of._replace(means=1.5 * of.means)
    X, _ = draw(rng, of, S, T)
    X = with_gaps(rng, X, 0.4)
    model: Any = HiddenMarkov(K, outliers=None, random_state=0).fit(X, lengths=[T] * S)
    order = matched(model.means_, of.means)
    intervals = model.intervals(X, lengths=[T] * S)
    both = np.ix_(order, order)
    turned: dict[str, Any] = {
        "means_": (of.means, order),
        "transition_": (of.transition, both),
        "start_": (of.start, order),
    }
    return {
        name: (intervals[name].low[turn] <= true) & (true <= intervals[name].high[turn])
        for name, (true, turn) in turned.items()
    }


def main() -> None:
    """Print the figures, and keep them if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [held(seed) for seed in range(asked.seed, asked.seed + asked.tables)]
    figures = {name: float(100 * np.mean([one[name] for one in found])) for name in found[0]}
    print(figures)
    if asked.keep:
        command = f"python -m benchmarks.markov_coverage --tables {asked.tables}"
        results_file.write("markov_coverage", command, figures)


if __name__ == "__main__":
    main()
