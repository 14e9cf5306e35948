"""What tables are drawn from: the paper's worlds, and models fitted to real counts."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.reproduce import data_folder, paper, sepsis
from benchmarks.reproduce.quiet import quiet
from benchmarks.reproduce.synthetic import (
    N_COMPLETE,
    N_COMPONENTS,
    N_FEATURES,
    World,
    gamma_poisson_world,
    gaussian_world,
)
from halfseen.data.arrays import Array, Labels
from halfseen.models import simulate

SHAPE, LENGTH = 0.5, 40.0
"""Of the topics' loadings, all alike, and of rows: the paper prints neither."""

TOPICS = np.array(
    [
        [0.22, 0.18, 0.14, 0.10, 0.06, 0.02, 0.12, 0.08, 0.05, 0.03],
        [0.03, 0.08, 0.16, 0.22, 0.16, 0.07, 0.03, 0.05, 0.08, 0.12],
        [0.10, 0.03, 0.03, 0.06, 0.16, 0.24, 0.04, 0.14, 0.16, 0.04],
        [0.14, 0.04, 0.10, 0.03, 0.04, 0.13, 0.20, 0.04, 0.10, 0.18],
    ]
)
"""A of Fig. 2c, transposed; (k, d). The paper shows it and prints no numbers. Each topic has a peak
of its own and shares every feature with the others: angles of 44 to 57 degrees between topics, 35
to 61 on the six complete features alone."""

N_LATER, N_GAPPY_WORDS = 64, 116


@dataclass(frozen=True)
class Source:
    """A world for each seed, and which of its features have gaps."""

    model: str
    n_components: int
    world: Callable[[np.random.Generator], World]
    incomplete: Callable[[np.random.Generator], Labels]
    file: str | None = None  # of real data that it needs


def topics_world(topics: Array, shapes: Array, rate: float) -> World:
    """The same topics whatever the seed."""
    return World(topics, shapes, lambda n, r: simulate.gamma_poisson(n, topics, shapes, rate, r)[0])


def fixed_topics(length: float) -> Callable[[np.random.Generator], World]:
    """The topics of Fig. 2c in rows of a mean length."""
    shapes = np.full(N_COMPONENTS, SHAPE)
    return lambda rng: topics_world(TOPICS, shapes, shapes.sum() / length)


def counts_in(file: str) -> tuple[Array, dict[str, Array]]:
    """A table of counts (n, d), and what else its file holds."""
    with np.load(data_folder.require(file)) as stored:
        arrays = dict(stored)
    sparse = csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), arrays["shape"])
    return sparse.toarray().astype(float), arrays


def fitted(counts: Array, n_components: int) -> World:
    """A gamma-Poisson model learned from real counts by the standard, unweighted method."""
    with quiet():
        model = paper.gamma_poisson(n_components, "full", random_state=0).fit(counts)
    return topics_world(model.components_, model.shapes_, model.rate_)


@cache
def diagnoses_world() -> World:
    """Diagnoses at the first hospital stay, and at later ones where there are any."""
    counts, arrays = counts_in("diagnoses.npz")
    came_back = arrays["second_half_observed"].astype(bool)
    counts[~came_back, -N_LATER:] = np.nan
    return fitted(counts, 5)


@cache
def newsgroups_world() -> World:
    """Words of posts in four groups."""
    return fitted(counts_in("newsgroups4.npz")[0], 4)


def last(n: int, of: int) -> Callable[[np.random.Generator], Labels]:
    """The last features have gaps."""
    return lambda rng: np.arange(of - n, of)


def _synthetic(model: str, world: Callable[[np.random.Generator], World]) -> Source:
    return Source(model, N_COMPONENTS, world, last(N_FEATURES - N_COMPLETE, N_FEATURES))


SOURCES: dict[str, Source] = {
    "gaussian": _synthetic("gaussian", gaussian_world),
    "topics": _synthetic("gamma-poisson", fixed_topics(LENGTH)),
    "short topics": _synthetic("gamma-poisson", fixed_topics(LENGTH / 4)),
    "long topics": _synthetic("gamma-poisson", fixed_topics(LENGTH * 4)),
    "random topics": _synthetic("gamma-poisson", gamma_poisson_world(SHAPE, LENGTH)),
    "diagnoses": Source(
        "gamma-poisson",
        5,
        lambda rng: diagnoses_world(),
        last(N_LATER, 2 * N_LATER),
        "diagnoses.npz",
    ),
    "newsgroups": Source(
        "gamma-poisson",
        4,
        lambda rng: newsgroups_world(),
        lambda rng: np.sort(rng.permutation(175)[:N_GAPPY_WORDS]),
        "newsgroups4.npz",
    ),
}

FILES: dict[str, str | None] = {name: source.file for name, source in SOURCES.items()} | {
    "sepsis": sepsis.FILE
}
"""The file of real data that tables of each source need. Sepsis rows are real, not drawn."""
