"""Simulated documents without gaps: topics beside those of other libraries.

Run ``python -m benchmarks.lda_complete`` where tomotopy and gensim are installed: 5,000 documents
of 300 words, ten topics and lognormal lengths. The error is the mean L1 distance of matched
topics; beside it the processor's seconds of one thread, and what the same sweeps find that begin
at the true topics, below which no start can lead. Nothing was tuned on these seeds.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from benchmarks import results_file
from benchmarks.text_topics import WAYS
from halfseen.data.arrays import Array
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.diagnostics.recovery import match
from halfseen.models.lda.parameters import LdaParameters
from halfseen.models.lda.stochastic_em import refine

FIRST_SEED = 7000
N, D, K = 5000, 300, 10
SMOOTHING = 0.1


def drawn(seed: int) -> tuple[Array, Any]:
    """Topics (k, d), and sparse counts (n, d)."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.ones(D), K)
    shares = rng.dirichlet(np.full(K, 1 / K), N) @ topics
    lengths = np.maximum(rng.lognormal(np.log(80), 0.6, N).astype(int), 3)
    return topics, csr_array(rng.multinomial(lengths, shares).astype(float))


def off(found: Array, topics: Array) -> float:
    """The mean L1 distance of matched topics."""
    return float(np.abs(found[match(found, topics)] - topics).sum(axis=1).mean())


def floor(X: Any, topics: Array) -> float:
    """The error of sweeps that begin at the truth."""
    rows = SparseRows.of(X, tuple(map(str, range(D))))
    truth = LdaParameters(topics, np.full(K, 1 / K), 2.5, 2.5 / 95)
    found = refine(rows, truth, seed=0, n_sweeps=100, smoothing=SMOOTHING, text=False)
    return off(found.parameters.topics, topics)


def main() -> None:
    """Print means over tables, and keep them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", type=int, default=3)
    options.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    options.add_argument("--keep", action="store_true")
    asked = options.parse_args()
    every: dict[str, list[float]] = {}
    for number in range(asked.tables):
        topics, X = drawn(FIRST_SEED + number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for way in asked.ways:
                learned = WAYS[way](X, K, SMOOTHING)
                every.setdefault(way, []).append(off(learned.topics, topics))
                every.setdefault(f"{way}, seconds", []).append(learned.seconds)
                print(number, way, every[way][-1], learned.seconds, flush=True)
        every.setdefault("sweeps from the truth", []).append(floor(X, topics))
        means = {name: float(np.mean(values)) for name, values in every.items()}
        print(number, means, flush=True)
        if asked.keep:
            command = f"python -m benchmarks.lda_complete --tables {asked.tables}"
            figures = {"tables": number + 1, "means": means}
            results_file.write("lda_complete", command, figures)


if __name__ == "__main__":
    main()
