"""Topics of real text beside other libraries: perplexity by one protocol, and time.

Run ``python -m benchmarks.text_topics`` where tomotopy is installed (``pip install tomotopy``;
without it the others are measured alone), with the folder of real tables in ``HALFSEEN_DATA``:
Associated Press articles and posts of four newsgroups, a fifth of the documents held out. Every
library gives topics and the concentrations of their shares; from these, one program finds the
shares of half the words of each held-out document and the perplexity of the other half. Topics
that give a word no chance are mixed with a millionth of the overall shares. Seconds are of the
processor, with one thread, so that a machine that is busy otherwise tells the same. ``--curves``
measures it after fewer and more sweeps.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array

from benchmarks import results_file
from halfseen import LatentDirichletAllocation
from halfseen.models.lda.parameters import LdaParameters
from halfseen.models.lda.perplexity import completed
from halfseen.rows.engines.sparse.rows import SparseRows

SWEEPS = (10, 30, 100, 300)


class Topics(NamedTuple):
    """What a library learned."""

    topics: Any  # (k, d)
    alpha: Any  # (k,)
    seconds: float


def articles() -> Any:
    """Associated Press; (2246, 10473)."""
    folder = Path(os.environ["HALFSEEN_DATA"]) / "tables"
    return csr_array(mmread(str(folder / "ap.mtx.gz"))).astype(float)


def posts() -> Any:
    """Four newsgroups; (3652, 175)."""
    held = np.load(Path(os.environ["HALFSEEN_DATA"]) / "newsgroups4.npz", allow_pickle=False)
    parts = (held["data"], held["indices"], held["indptr"])
    return csr_array(parts, shape=tuple(held["shape"])).astype(float)


TABLES: dict[str, Callable[[], Any]] = {"ap": articles, "newsgroups": posts}


def ours(X: Any, k: int, smoothing: float = 0.1, n_sweeps: int = 100) -> Topics:
    """By halfseen."""
    model = LatentDirichletAllocation(
        k, refine="saem", smoothing=smoothing, n_sweeps=n_sweeps, random_state=0
    )
    before = time.process_time()
    model.fit(X)
    return Topics(model.components_, model.alpha_, time.process_time() - before)


def tomotopys(X: Any, k: int, smoothing: float = 0.1, n_sweeps: int = 1000) -> Topics:
    """By tomotopy's collapsed Gibbs sampler, which learns the concentrations too."""
    model = import_module("tomotopy").LDAModel(k=k, alpha=0.1, eta=smoothing, seed=1)
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        words = np.repeat(X.indices[part], X.data[part].astype(int))
        if len(words):
            model.add_doc([str(word) for word in words])
    before = time.process_time()
    model.train(n_sweeps, workers=1)
    seconds = time.process_time() - before
    topics = np.zeros((k, X.shape[1]))
    places = [int(word) for word in model.used_vocabs]
    for one in range(k):
        topics[one, places] = model.get_topic_word_dist(one)
    return Topics(topics, np.asarray(model.alpha, float), seconds)


def scikit_learns(X: Any, k: int, smoothing: float = 0.1, n_sweeps: int = 50) -> Topics:
    """By variational Bayes, in batches of the whole table."""
    kind = import_module("sklearn.decomposition").LatentDirichletAllocation
    model = kind(k, topic_word_prior=smoothing, max_iter=n_sweeps, random_state=0)
    before = time.process_time()
    model.fit(X)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return Topics(topics, np.full(k, 1.0 / k), time.process_time() - before)


WAYS: dict[str, Callable[..., Topics]] = {
    "halfseen": ours,
    "tomotopy": tomotopys,
    "scikit-learn": scikit_learns,
}


def perplexity(learned: Topics, train: Any, test: Any) -> float:
    """Of half the words of each held-out document given the other half."""
    average = np.asarray(train.sum(axis=0)).ravel() + 1e-3
    topics = 0.999999 * learned.topics + 1e-6 * average / average.sum()
    law = LdaParameters(topics / topics.sum(axis=1, keepdims=True), learned.alpha, 1.0, 0.01)
    rows = SparseRows.of(test, tuple(map(str, range(test.shape[1]))))
    found, items = rows.accumulate(
        lambda block: np.array([part.sum() for part in completed(block, law)])
    )
    return float(np.exp(-found / items))


def splits(X: Any, number: int) -> Iterator[tuple[Any, Any]]:
    """A fifth of the rows held out, each in turn."""
    order = np.random.default_rng(0).permutation(X.shape[0]) % 5
    for split in range(number):
        yield X[order != split], X[order == split]


def main() -> None:
    """Print what every library comes to, and keep it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    options.add_argument("--topics", nargs="*", type=int, default=[10, 20])
    options.add_argument("--splits", type=int, default=5)
    options.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    options.add_argument("--smoothing", nargs="*", type=float, default=[0.1, 0.01])
    options.add_argument("--curves", action="store_true")
    options.add_argument("--keep", action="store_true")
    asked = options.parse_args()
    found = results_file.kept("text_topics")
    for table in asked.tables:
        for k in asked.topics:
            for split, (train, test) in enumerate(splits(TABLES[table](), asked.splits)):
                for way in asked.ways:
                    for smoothing in asked.smoothing:
                        for sweeps in SWEEPS if asked.curves else (None,):
                            more = {} if sweeps is None else {"n_sweeps": sweeps}
                            learned = WAYS[way](train, k, smoothing, **more)
                            told = " ".join(
                                [table, f"K={k}", way, f"eta={smoothing:g}"]
                                + ([f"sweeps={sweeps}"] if sweeps else [])
                            )
                            figures = [perplexity(learned, train, test), learned.seconds]
                            found.setdefault(told, {})[str(split)] = figures
                            print(split, told, *(f"{one:.2f}" for one in figures), flush=True)
                if asked.keep:
                    command = "python -m benchmarks.text_topics"
                    results_file.write("text_topics", command, found)


if __name__ == "__main__":
    main()
