"""Topics of a large sparse table in which whole blocks of words were not looked for.

Run ``python -m benchmarks.sparse_topics``: 200,000 documents, 20,000 words of which half
were counted in all documents and the rest in four blocks with chances .05, .2, .5 and .9; the time
of a fit beside that of one product of the matrix with 20 vectors, memory, and accuracy.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from benchmarks import memory, results_file
from halfseen import GammaPoisson, ObservedBlocks, simulate
from halfseen.data.arrays import Array
from halfseen.data.errors import DroppedFeatureWarning, WeakMomentsWarning
from halfseen.diagnostics.recovery import angles

OBSERVED = (1.0, 0.05, 0.2, 0.5, 0.9)
MEAN_LENGTH = 100.0


class Documents(NamedTuple):
    """Counts with gaps, and the topics they come from."""

    counts: csr_array  # (n, d)
    observed: ObservedBlocks
    topics: Array  # (k, d)


def documents(
    n_rows: int, n_words: int, n_topics: int, seed: int = 0, length: float = MEAN_LENGTH
) -> Documents:
    """Draw documents; half of the words are complete, the others in four blocks of equal size."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.05), size=n_topics)
    shapes = np.full(n_topics, 0.1)
    rate = shapes.sum() / length
    counts, _ = simulate.sparse_gamma_poisson(n_rows, topics, shapes, rate, rng)
    half = n_words // 2
    blocks = np.concatenate([np.zeros(half, int), 1 + np.arange(n_words - half) % 4])
    row_observed = rng.random((n_rows, len(OBSERVED))) < OBSERVED
    seen = simulate.without_blocks(counts, blocks, row_observed)
    return Documents(seen, ObservedBlocks(blocks, row_observed), topics)


def fit(data: Documents) -> GammaPoisson:
    """Topics by moments."""
    model = GammaPoisson(len(data.topics), n_jobs=2)
    with warnings.catch_warnings():
        # Some words never come up; the rarest pairs of blocks are seen in few documents.
        warnings.simplefilter("ignore", DroppedFeatureWarning)
        warnings.simplefilter("ignore", WeakMomentsWarning)
        model.fit(data.counts, observed=data.observed)
    return model


def measure(n_rows: int, n_words: int, n_topics: int) -> dict[str, Any]:
    """Time, memory and accuracy of one fit, in a process that does nothing else."""
    data = documents(n_rows, n_words, n_topics)
    fit(documents(2000, 600, 2))  # compile
    vectors = np.random.default_rng(1).standard_normal((n_words, n_topics))
    product = min(_seconds(lambda: data.counts @ vectors) for _ in range(7))
    memory.forget()
    start = time.perf_counter()
    model = fit(data)
    seconds = time.perf_counter() - start
    counts = data.counts
    complete = np.flatnonzero(np.asarray(data.observed.column_block) == 0)
    return {
        "stored": int(counts.nnz),
        "one product s": product,
        "fit s": seconds,
        "fit / product": seconds / product,
        "matrix GB": (counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes) / 1e9,
        "peak memory GB": memory.peak(),
        "mean angle": float(angles(model.components_, data.topics, complete).mean()),
        "seconds": model.diagnostics_.seconds,
        "route": f"{model.diagnostics_.third_moment}: {model.diagnostics_.third_moment_reason}",
    }


def _seconds(action: Any) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--keep", action="store_true", help="write the results file")
    options = parser.parse_args()
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        job = pool.submit(measure, options.rows, options.words, options.topics)
        figures = job.result()
    for name, value in figures.items():
        print(f"{name:>30}  {value:.4g}" if isinstance(value, float) else f"{name:>30}  {value}")
    if options.keep:
        command = f"python -m benchmarks.sparse_topics --rows {options.rows}"
        command += f" --words {options.words} --topics {options.topics}"
        results_file.write("sparse_topics", command, figures)


if __name__ == "__main__":
    main()
