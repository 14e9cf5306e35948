"""Topics of real text beside other libraries: perplexity by one protocol, and time.

Run ``python -m benchmarks.text_topics`` where tomotopy and gensim are installed (``pip install
tomotopy gensim``), with the folder of real tables in ``HALFSEEN_DATA``: Associated Press articles
and posts of four newsgroups, a fifth of the documents held out. Every library gives topics and
the concentrations of their shares; from these, one program finds the shares of half the words of
each held-out document and the perplexity of the other half. Words that no document to learn from
has are left out: some libraries give them a chance and others none, which says nothing of topics.
Topics that give a word no chance are mixed with a millionth of the overall shares. Seconds are of
the processor, with one thread, so that a machine that is busy otherwise tells the same; with more
(``--threads``) they are those of the clock, and such runs are kept beside the others. ``--curves``
measures it after fewer and more sweeps of the first split, and draws ``text_topics.png``. What was
tuned, was on other splits (of another permutation of the documents).
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import pairwise, product
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array

from benchmarks import real_tables, results_file
from benchmarks.reproduce import data_folder
from halfseen import LatentDirichletAllocation
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.latent.topic_refinement import document_completion
from halfseen.models.lda.parameters import LdaParameters

SWEEPS = {
    "halfseen": (10, 20, 30, 40, 60, 100, 300),
    "tomotopy": (30, 100, 200, 300, 500, 1000),
    "scikit-learn": (5, 10, 20, 50),
    "gensim": (2, 5, 10, 20),
}
CLOCK = (time.perf_counter, time.process_time)
"""For several threads, and for one."""
SEED = 1
"""Of the permutation that splits are cut from."""


class Topics(NamedTuple):
    """What a library learned."""

    topics: Any  # (k, d)
    alpha: Any  # (k,)
    seconds: float


def articles() -> Any:
    """Associated Press; (2246, 10473)."""
    return csr_array(mmread(str(real_tables.find("ap.mtx.gz")))).astype(float)


def posts() -> Any:
    """Four newsgroups; (3652, 175)."""
    held = np.load(data_folder.require("newsgroups4.npz"), allow_pickle=False)
    parts = (held["data"], held["indices"], held["indptr"])
    return csr_array(parts, shape=tuple(held["shape"])).astype(float)


TABLES: dict[str, Callable[[], Any]] = {"ap": articles, "newsgroups": posts}


def ours(X: Any, k: int, smoothing: float, n_sweeps: int = 100, threads: int = 1) -> Topics:
    """By halfseen."""
    model = LatentDirichletAllocation(
        k, refine="saem", smoothing=smoothing, n_sweeps=n_sweeps, random_state=0, n_jobs=threads
    )
    before = CLOCK[threads == 1]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of moments that are weak in text
        model.fit(X)
    return Topics(model.components_, model.alpha_, CLOCK[threads == 1]() - before)


def tomotopys(X: Any, k: int, smoothing: float, n_sweeps: int = 1000, threads: int = 1) -> Topics:
    """By tomotopy's collapsed Gibbs sampler, which learns the concentrations too."""
    model = import_module("tomotopy").LDAModel(k=k, alpha=0.1, eta=smoothing, seed=1)
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        words = np.repeat(X.indices[part], X.data[part].astype(int))
        if len(words):
            model.add_doc([str(word) for word in words])
    before = CLOCK[threads == 1]()
    model.train(n_sweeps, workers=threads)
    seconds = CLOCK[threads == 1]() - before
    topics = np.zeros((k, X.shape[1]))
    places = [int(word) for word in model.used_vocabs]
    for one in range(k):
        topics[one, places] = model.get_topic_word_dist(one)
    return Topics(topics, np.asarray(model.alpha, float), seconds)


def scikit_learns(X: Any, k: int, smoothing: float, n_sweeps: int = 50, threads: int = 1) -> Topics:
    """By variational Bayes, in batches of the whole table."""
    kind = import_module("sklearn.decomposition").LatentDirichletAllocation
    model = kind(k, topic_word_prior=smoothing, max_iter=n_sweeps, random_state=0, n_jobs=threads)
    before = CLOCK[threads == 1]()
    model.fit(X)
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    return Topics(topics, np.full(k, 1.0 / k), CLOCK[threads == 1]() - before)


def gensims(X: Any, k: int, smoothing: float, n_sweeps: int = 10, threads: int = 1) -> Topics:
    """By online variational Bayes, which learns the concentrations too; one thread."""
    bows = [
        list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
        for a, b in pairwise(X.indptr.tolist())
    ]
    kind = import_module("gensim.models").LdaModel
    before = CLOCK[threads == 1]()
    model = kind(
        bows,
        num_topics=k,
        id2word={word: str(word) for word in range(X.shape[1])},
        alpha="auto",
        eta=smoothing,
        passes=n_sweeps,
        random_state=0,
    )
    seconds = CLOCK[threads == 1]() - before
    return Topics(np.asarray(model.get_topics(), float), np.asarray(model.alpha, float), seconds)


WAYS: dict[str, Callable[..., Topics]] = {
    "halfseen": ours,
    "tomotopy": tomotopys,
    "scikit-learn": scikit_learns,
    "gensim": gensims,
}


def perplexity(learned: Topics, train: Any, test: Any) -> float:
    """Of half the words of each held-out document given the other half."""
    average = np.asarray(train.sum(axis=0)).ravel() + 1e-3
    topics = 0.999999 * learned.topics + 1e-6 * average / average.sum()
    law = LdaParameters(topics / topics.sum(axis=1, keepdims=True), learned.alpha, 1.0, 0.01)
    rows = SparseRows.of(test, tuple(map(str, range(test.shape[1]))))
    found, items = rows.accumulate(
        lambda block: np.array([part.sum() for part in document_completion(block, law)])
    )
    return float(np.exp(-found / items))


def splits(X: Any, number: int) -> Iterator[tuple[Any, Any]]:
    """A fifth of the rows held out, each in turn, with the words that the others have."""
    order = np.random.default_rng(SEED).permutation(X.shape[0]) % 5
    for split in range(number):
        train, test = X[order != split], X[order == split]
        known = np.asarray(train.sum(axis=0)).ravel() > 0
        yield train[:, known], test[:, known]


def draw(found: dict[str, Any]) -> None:
    """Perplexity against seconds, as measured."""
    from matplotlib.figure import Figure

    curves: dict[str, list[Any]] = {}
    for told, of_splits in found.items():
        if "sweeps=" in told:
            curves.setdefault(told.split(" sweeps=")[0], []).append(of_splits["0"])
    panels = sorted({" ".join(name.split()[:2]) for name in curves})
    figure = Figure(figsize=(6.0 * len(panels), 4.8), layout="constrained")
    lines: dict[str, Any] = {}
    for ax, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for name, points in curves.items():
            if name.startswith(f"{panel} "):
                perplexities, seconds = zip(*sorted(points, key=itemgetter(1)), strict=True)
                label = name.removeprefix(f"{panel} ")
                colour = f"C{list(WAYS).index(label.split()[0])}"
                style = "s--" if "threads" in label else "o-"
                (lines[label],) = ax.semilogx(seconds, perplexities, style, color=colour)
        ax.set_title(panel)
        ax.set_xlabel("seconds, of the processor or, with two threads, of the clock")
        ax.set_ylabel("perplexity of held-out words")
        ax.grid(alpha=0.3)
    names = [name.replace("threads=2", "two threads") for name in lines]
    figure.legend(lines.values(), names, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(results_file.FOLDER / "text_topics.png", dpi=110)


def measured(asked: Any, found: dict[str, Any]) -> Iterator[None]:
    """Add what every library comes to, one fit after the other."""
    for table, k in product(asked.tables, asked.topics):
        for split, (train, test) in enumerate(splits(TABLES[table](), asked.splits)):
            if split < asked.first:
                continue
            for way, smoothing in product(asked.ways, asked.smoothing):
                for sweeps in SWEEPS[way] if asked.curves else (None,):
                    more = {} if sweeps is None else {"n_sweeps": sweeps}
                    learned = WAYS[way](train, k, smoothing, threads=asked.threads, **more)
                    told = f"{table} K={k} {way} eta={smoothing:g}"
                    told += "" if asked.threads == 1 else f" threads={asked.threads}"
                    told += "" if sweeps is None else f" sweeps={sweeps}"
                    figures = [perplexity(learned, train, test), learned.seconds]
                    found.setdefault(told, {})[str(split)] = figures
                    print(split, told, *(f"{one:.2f}" for one in figures), flush=True)
                    yield


def main() -> None:
    """Print what every library comes to, and keep it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    options.add_argument("--topics", nargs="*", type=int, default=[10, 20])
    options.add_argument("--first", type=int, default=0, help="the first split")
    options.add_argument(
        "--splits", type=int, default=5, help="the number of the last split, less one"
    )
    options.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    options.add_argument("--smoothing", nargs="*", type=float, default=[0.1, 0.01])
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--curves", action="store_true")
    options.add_argument("--keep", action="store_true")
    asked = options.parse_args()
    found = results_file.kept("text_topics")
    for _ in measured(asked, found):
        if asked.keep:
            results_file.write("text_topics", "python -m benchmarks.text_topics", found)
    if asked.curves and asked.keep:
        draw(found)


if __name__ == "__main__":
    main()
