"""How often the number of states is found.

Run ``python -m benchmarks.markov_number --tables 6``: sequences of 30 rows from chains of
``benchmarks.markov_tables`` with one to four states and 5 to 10 columns, each observed in 10 to
100 % of rows; up to two states more than there are could be chosen. Bounds were set on seeds from
5000 on.
"""

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks import results_file
from benchmarks.markov_tables import chain, draw, with_gaps
from halfseen import choose_components

LENGTH = 30
FIRST_SEED = 6000


def chosen(k: int, n_sequences: int, seed: int) -> int:
    """The number chosen for one table."""
    rng = np.random.default_rng([seed, k])
    X, _ = draw(rng, chain(rng, k, int(rng.integers(5, 11))), n_sequences, LENGTH)
    lengths = [LENGTH] * n_sequences
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        choice = choose_components(
            with_gaps(rng, X), "markov", max_components=k + 2, lengths=lengths
        )
    return choice.n_components


def main() -> None:
    """Print how often fewer, as many and more were chosen, and keep that if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=6, help="of each number and size")
    parser.add_argument("--seed", type=int, default=FIRST_SEED)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    for n_sequences in (40, 150):
        for k in (1, 2, 3, 4):
            seeds = range(asked.seed, asked.seed + asked.tables)
            found = np.array([chosen(k, n_sequences, seed) for seed in seeds])
            counts = (found < k).sum(), (found == k).sum(), (found > k).sum()
            said = dict(zip(("fewer", "right", "more"), map(int, counts), strict=True))
            figures[f"{n_sequences} sequences of {k} states"] = said
            print(n_sequences, k, said, flush=True)
    if asked.keep:
        command = f"python -m benchmarks.markov_number --tables {asked.tables}"
        results_file.write("markov_number", command, figures)


if __name__ == "__main__":
    main()
