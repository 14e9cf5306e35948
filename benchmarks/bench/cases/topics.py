"""Topics: of dense counts with gaps, of sparse counts with blocks not looked for, of real text."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks import lda_gaps, sparse_topics, text_topics
from benchmarks.bench.case import OURS, Case, Entrant, Errors, Setting
from benchmarks.text_topics import TABLES, Topics, perplexity, splits
from halfseen import GammaPoisson, LatentDirichletAllocation
from halfseen.data.arrays import Array
from halfseen.diagnostics.recovery import angles, match

SEED, SMOOTHING = 5100, 0.1


class Counts(NamedTuple):
    """Counts with gaps, and the topics behind them."""

    X: Array  # (n, d)
    topics: Array  # (k, d)


def with_gaps(seed: int, rows: int | None = None) -> Counts:
    """3,000 documents of 100 words; half of the words have gaps."""
    topics, _, _, X = lda_gaps.drawn(seed, 1.0)
    return Counts(X[:rows], topics)


def ours(data: Counts, threads: int) -> Array:
    """Lengths are found from what was recorded."""
    model = LatentDirichletAllocation(len(data.topics), random_state=0, n_jobs=threads)
    found: Array = model.fit(data.X).components_
    return found


def scikit_learn(data: Counts, threads: int) -> Array:
    """Gaps as zeros."""
    kind = import_module("sklearn.decomposition").LatentDirichletAllocation
    model = kind(len(data.topics), max_iter=50, random_state=0, n_jobs=threads)
    found = model.fit(np.nan_to_num(data.X)).components_
    shares: Array = found / found.sum(axis=1, keepdims=True)
    return shares


def gensim(data: Counts, threads: int) -> Array:
    """Gaps as zeros, asymmetric concentrations learned."""
    X = np.nan_to_num(data.X)
    texts = [[(int(j), float(row[j])) for j in np.flatnonzero(row)] for row in X]
    return _gensim(texts, X.shape[1], len(data.topics))


def _gensim(texts: Any, words: int, k: int, passes: int = 20) -> Array:
    model = import_module("gensim.models").LdaModel(
        texts,
        num_topics=k,
        id2word={j: str(j) for j in range(words)},
        passes=passes,
        alpha="auto",
        eta=SMOOTHING,
        random_state=0,
    )
    found: Array = np.asarray(model.get_topics(), dtype=float)
    return found


def tomotopy(data: Counts, threads: int) -> Array:
    """Gaps as zeros; 500 sweeps."""
    from scipy.sparse import csr_array

    counts = csr_array(np.nan_to_num(data.X))
    found: Array = text_topics.tomotopys(counts, len(data.topics), SMOOTHING, 500).topics
    return found


def off(data: Counts, topics: Array) -> Errors:
    """Mean L1 distance of matched topics."""
    away = np.abs(topics[match(topics, data.topics)] - data.topics)
    return {"L1 of topics": float(away.sum(axis=1).mean())}


GAPS = Case(
    name="topics_gaps",
    asks="Five topics of 3,000 documents, half of the 100 words with gaps: how near to the truth?",
    draw=with_gaps,
    settings=tuple(
        Setting(f"seed {seed}", {"seed": seed}, quick=seed == SEED)
        for seed in range(SEED, SEED + 3)
    ),
    entrants={
        OURS: Entrant(OURS, ours, "defaults; lengths unknown"),
        "scikit-learn": Entrant("scikit-learn", scikit_learn, "gaps as zeros, 50 rounds"),
        "gensim": Entrant("gensim", gensim, "gaps as zeros, 20 passes"),
        "tomotopy": Entrant("tomotopy", tomotopy, "gaps as zeros, 500 sweeps"),
    },
    judge=off,
    metric="L1 of topics",
    close=0.03,
    relative=True,
    warm={"seed": 0, "rows": 200},
)


class Sparse(NamedTuple):
    """Sparse counts with blocks of words not looked for."""

    data: sparse_topics.Documents


def sparse(rows: int, words: int, topics: int) -> Sparse:
    """Half of the words in blocks that some documents were not searched for."""
    return Sparse(sparse_topics.documents(rows, words, topics, seed=SEED))


def our_sparse(held: Sparse, threads: int) -> Array:
    """By moments."""
    model = GammaPoisson(len(held.data.topics), random_state=0, n_jobs=threads)
    found: Array = model.fit(held.data.counts, observed=held.data.observed).components_
    return found


def products(held: Sparse, threads: int) -> Array:
    """Thirty products of the table: what moments are allowed to take."""
    vectors = np.random.default_rng(0).random((held.data.counts.shape[1], len(held.data.topics)))
    for _ in range(30):
        held.data.counts @ vectors
    shares: Array = (vectors / vectors.sum(axis=0)).T
    return shares


def tomotopy_sparse(held: Sparse, threads: int) -> Array:
    """Blocks not looked for as zeros; 200 sweeps."""
    k = len(held.data.topics)
    found: Array = text_topics.tomotopys(held.data.counts, k, SMOOTHING, 200).topics
    return found


def off_sparse(held: Sparse, topics: Array) -> Errors:
    """Of words that were always looked for: mean angle between matched topics, in radians."""
    complete = np.flatnonzero(np.asarray(held.data.observed.column_block) == 0)
    found = np.nan_to_num(topics)
    return {"angle": float(angles(found, held.data.topics, complete).mean())}


SPARSE = Case(
    name="topics_sparse",
    asks="Topics of sparse counts, blocks of words not looked for: how near, and how fast?",
    draw=sparse,
    settings=(
        Setting("5,000 × 2,000", {"rows": 5000, "words": 2000, "topics": 5}, quick=True),
        Setting("20,000 × 5,000", {"rows": 20_000, "words": 5000, "topics": 10}),
        Setting("200,000 × 20,000", {"rows": 200_000, "words": 20_000, "topics": 20}),
    ),
    entrants={
        OURS: Entrant(OURS, our_sparse, "moments"),
        "30 products": Entrant("numpy", products, "SciPy: no fit, a yardstick"),
        "tomotopy": Entrant("tomotopy", tomotopy_sparse, "gaps as zeros, 200 sweeps"),
    },
    judge=off_sparse,
    metric="angle",
    close=0.03,
    relative=True,
    warm={"rows": 2000, "words": 600, "topics": 2},
    why=(
        "These are moments alone. Sweeps over every word come nearer to topics of few documents, "
        "even with gaps taken for zeros, in twice to fifty times the time."
    ),
)


class Text(NamedTuple):
    """Documents to learn from, others to judge by, and how many topics."""

    train: Any
    test: Any
    k: int


def text(table: str, topics: int, most: int | None = None) -> Text:
    """A fifth of the documents is held out."""
    train, test = next(splits(TABLES[table]()[:most], 1))
    return Text(train, test, topics)


def _by(way: Callable[..., Topics], sweeps: int) -> Callable[[Text, int], Topics]:
    return lambda data, threads: way(data.train, data.k, SMOOTHING, n_sweeps=sweeps)


def gensim_text(data: Text, threads: int) -> Topics:
    """Twenty passes."""
    X = data.train
    rows = [slice(X.indptr[i], X.indptr[i + 1]) for i in range(X.shape[0])]
    texts = [list(zip(X.indices[r].tolist(), X.data[r].tolist(), strict=True)) for r in rows]
    found = _gensim(texts, X.shape[1], data.k)
    return Topics(found, np.full(data.k, 1.0 / data.k), 0.0)


def unlikely(data: Text, found: Topics) -> Errors:
    """Perplexity of half of the words of held-out documents given the others."""
    return {"perplexity": perplexity(found, data.train, data.test)}


TEXT = Case(
    name="topics_text",
    asks="Topics of real text: how well are other halves of other documents foretold?",
    draw=text,
    settings=tuple(
        Setting(f"{table}, {k} topics", {"table": table, "topics": k}, quick=table != "ap")
        for table in ("newsgroups", "ap")
        for k in (10, 20)
    ),
    entrants={
        OURS: Entrant(OURS, _by(text_topics.ours, 100), "100 sweeps, smoothing .1"),
        "tomotopy": Entrant("tomotopy", _by(text_topics.tomotopys, 1000), "1,000 sweeps"),
        "tomotopy, 200": Entrant("tomotopy", _by(text_topics.tomotopys, 200), "200 sweeps"),
        "scikit-learn": Entrant("scikit-learn", _by(text_topics.scikit_learns, 50), "50 rounds"),
        "gensim": Entrant("gensim", gensim_text, "20 passes, smoothing .1"),
    },
    judge=unlikely,
    metric="perplexity",
    close=0.005,
    relative=True,
    warm={"table": "newsgroups", "topics": 2, "most": 60},
    why=(
        "Posts of 175 words say little of ten topics, and one split of them is a percent likelier "
        "after a thousand draws; on others it is the other way round (benchmarks.text_topics)."
    ),
)
