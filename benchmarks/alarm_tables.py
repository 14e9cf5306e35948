"""Tables on which concerns are measured: sound ones of every model, and five that are faulty.

A sound table is drawn from the model that is fitted to it, with the right number of components
that can be told apart, complete or with 30 % of the cells of half the columns missing at random;
some are sorted. A world is a function from a generator of random numbers to such a table.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from halfseen import (
    GammaPoisson,
    GaussianMixture,
    HiddenMarkov,
    LatentClass,
    LatentDirichletAllocation,
)
from halfseen.data.arrays import Array, Labels

N_ROWS = 1_000


class Table(NamedTuple):
    """A table, the model to fit to it, and the lengths of sequences if rows follow each other."""

    X: Any
    model: Any
    lengths: Array | None = None  # of sequences


World = Callable[[np.random.Generator], Table]


def _gappy(X: Array, rng: np.random.Generator) -> Array:
    """Half of the tables complete; in the others the first half of the columns has 30 % gaps."""
    if rng.random() < 0.5:
        return X
    hidden = (rng.random(X.shape) < 0.3) & (np.arange(X.shape[1]) < X.shape[1] / 2)
    return np.where(hidden, np.nan, X)


def _sorted(X: Array, labels: Labels, rng: np.random.Generator) -> Array:
    """A third of the tables each: rows in any order, by component, or by a column."""
    how = rng.integers(3)
    if how == 0:
        return X
    return X[np.argsort(labels if how == 1 else X[:, -1], kind="stable")]


def _shares(k: int, rng: np.random.Generator) -> Array:
    """Shares of components of at least .15."""
    return 0.15 + (1 - 0.15 * k) * rng.dirichlet(np.full(k, 2.0))


def _means(k: int, d: int, apart: float, rng: np.random.Generator) -> Array:
    """Means of components that are all so many standard deviations apart, and 1 in each column."""
    while True:
        means = rng.normal(0, 2.0, (k, d))
        distance = np.sqrt(np.sum((means[:, None] - means) ** 2, axis=2))
        if distance[np.triu_indices(k, 1)].min() > apart and np.ptp(means, axis=0).min() > 1:
            return means


def sound_gaussian_mixture(rng: np.random.Generator) -> Table:
    """Normal components at least 4 standard deviations apart, of one of six covariance types."""
    covariance_type = rng.choice(
        ["tied_spherical", "spherical", "tied_diag", "diag", "tied", "full"]
    )
    k, d = int(rng.integers(2, 5)), int(rng.integers(4, 9))
    labels = rng.choice(k, N_ROWS, p=_shares(k, rng))
    noise = rng.normal(size=(N_ROWS, d))
    if covariance_type in ("tied", "full"):
        mix = rng.normal(size=(1 if covariance_type == "tied" else k, d, d)) / np.sqrt(d)
        mix = 0.7 * np.eye(d) + 0.7 * mix
        noise = np.einsum("nij,nj->ni", mix[labels % len(mix)], noise)
    else:
        several = (
            k if covariance_type in ("spherical", "diag") else 1,
            d if covariance_type.endswith("diag") else 1,
        )
        spread = np.broadcast_to(rng.uniform(0.6, 1.0, several), (several[0], d))
        noise = noise * spread[labels % len(spread)]
    X = _sorted(_means(k, d, 4.0, rng)[labels] + noise, labels, rng)
    return Table(_gappy(X, rng), GaussianMixture(k, covariance_type=covariance_type))


def _items(k: int, n_levels: Labels, rng: np.random.Generator) -> list[Array]:
    """Probabilities of values (k, l) of items that differ clearly between classes."""
    found = []
    for levels in n_levels:
        one = rng.dirichlet(np.full(levels, 0.5), k)
        while np.ptp(one, axis=0).max() < 0.4 or one.mean(axis=0).max() > 0.9:
            one = rng.dirichlet(np.full(levels, 0.5), k)
        found.append(one)
    return found


def _apart(items: list[Array]) -> float:
    """The Bhattacharyya distance of the nearest classes."""
    k = len(items[0])
    near = sum(-np.log(np.sqrt(one[:, None] * one).sum(axis=2)) for one in items)
    return float(near[np.triu_indices(k, 1)].min())


def _answers(labels: Labels, items: list[Array], rng: np.random.Generator) -> Array:
    drawn = [
        (rng.random(len(labels))[:, None] > one.cumsum(axis=1)[labels]).sum(axis=1) for one in items
    ]
    return np.column_stack(drawn).astype(float)


def _clear_items(k: int, n_levels: Labels, rng: np.random.Generator) -> list[Array]:
    while True:
        items = _items(k, n_levels, rng)
        if _apart(items) > 1.0:
            return items


def sound_binary_classes(rng: np.random.Generator) -> Table:
    """Two classes of eight to twelve yes/no items, said yes to by 10-20 % or by 80-90 %."""
    d = int(rng.integers(8, 13))
    yes = rng.uniform(0.1, 0.2, (2, d))
    yes[rng.integers(2, size=d), np.arange(d)] += 0.7
    items = [np.column_stack([1 - p, p]) for p in yes.T]
    labels = rng.choice(2, N_ROWS, p=_shares(2, rng))
    X = _sorted(_answers(labels, items, rng), labels, rng)
    return Table(_gappy(X, rng), LatentClass(2))


def sound_latent_classes(rng: np.random.Generator) -> Table:
    """Two or three classes of items, or of items beside numbers and counts."""
    k, mixed = int(rng.integers(2, 4)), rng.random() < 0.5
    items = _clear_items(k, rng.integers(2, 5, 8), rng)
    labels = rng.choice(k, N_ROWS, p=_shares(k, rng))
    X = _answers(labels, items, rng)
    if mixed:
        numbers = _means(k, 3, 1.0, rng)[labels] + rng.normal(size=(N_ROWS, 3))
        counts = rng.poisson(np.exp(_means(k, 2, 1.0, rng) / 2)[labels] * 3)
        X = np.hstack([X[:, :5], numbers, counts])
    X = _gappy(_sorted(X, labels, rng), rng)
    return Table(_in_words(X, 5 if mixed else 8), LatentClass(k))


def _in_words(X: Array, n_items: int) -> pd.DataFrame:
    """A frame in which the first columns hold letters, None in the gaps."""
    letters = np.array([*"abcdefgh", None], object)
    columns: dict[str, Any] = {f"item{d}": X[:, d] for d in range(X.shape[1])}
    for name in list(columns)[:n_items]:
        codes = columns[name]
        columns[name] = letters[np.where(np.isnan(codes), -1, codes).astype(int)]
    return pd.DataFrame(columns)


def sound_hidden_markov(rng: np.random.Generator) -> Table:
    """Fifty sequences of twenty rows through two or three states, of numbers or of items."""
    k, n = int(rng.integers(2, 4)), 50
    transition = 0.85 * np.eye(k) + 0.15 * rng.dirichlet(np.ones(k), k)
    states = np.empty((n, N_ROWS // n), int)
    states[:, 0] = rng.integers(k, size=n)
    for t in range(1, states.shape[1]):
        below = transition[states[:, t - 1]].cumsum(axis=1)
        states[:, t] = (rng.random(n)[:, None] > below).sum(axis=1)
    labels = states.ravel()
    if rng.random() < 0.5:
        X = _means(k, 5, 4.0, rng)[labels] + rng.normal(size=(N_ROWS, 5))
    else:
        X = _answers(labels, _clear_items(k, np.full(8, 2), rng), rng)
    return Table(_gappy(X, rng), HiddenMarkov(k), np.full(n, N_ROWS // n))


def _topics(k: int, alpha: Array, rng: np.random.Generator) -> Array:
    """Topics of which no two have a cosine above .8."""
    while True:
        topics = rng.dirichlet(alpha, k)
        unit = topics / np.linalg.norm(topics, axis=1, keepdims=True)
        if np.triu(unit @ unit.T, 1).max() < 0.8:
            return topics


def sound_gamma_poisson(rng: np.random.Generator) -> Table:
    """Three topics of ten features."""
    topics = _topics(3, np.full(10, 0.5), rng)
    rates = rng.gamma(1.0, 100 / 3, (N_ROWS, 3)) @ topics
    return Table(_gappy(rng.poisson(rates).astype(float), rng), GammaPoisson(3))


def sound_dirichlet_allocation(rng: np.random.Generator) -> Table:
    """Four topics of 40 words in rows of about 120."""
    lengths = 20 + rng.poisson(rng.gamma(2.0, 50.0, N_ROWS))
    shares = rng.dirichlet(np.full(4, 0.5), N_ROWS)
    X = rng.multinomial(lengths, shares @ _topics(4, np.full(40, 0.1), rng)).astype(float)
    return Table(_gappy(X, rng), LatentDirichletAllocation(4, random_state=0))


def one_normal(rng: np.random.Generator) -> Table:
    """One normal of correlations about .3 to .8, cut into three diagonal components."""
    d, load = int(rng.integers(4, 9)), rng.uniform(0.55, 0.9)
    factor, own = rng.normal(size=(N_ROWS, 1)), rng.normal(size=(N_ROWS, d))
    X = rng.uniform(1, 10, d) * (load * factor + np.sqrt(1 - load**2) * own)
    covariance_type = str(rng.choice(["tied_diag", "diag"]))
    return Table(_gappy(X, rng), GaussianMixture(3, covariance_type=covariance_type))


def duplicate_rows(rng: np.random.Generator) -> Table:
    """Fifty of a thousand rows are copies of others: numbers, mixed columns, or twenty items."""
    which, n, k = int(rng.integers(3)), N_ROWS - 50, 3
    labels = rng.choice(k, n, p=_shares(k, rng))
    if which == 2:
        X = _answers(labels, _clear_items(k, np.full(20, 4), rng), rng)
    else:
        X = np.round(_means(k, 5, 4.0, rng)[labels] + rng.normal(size=(n, 5)), 2)
    if which == 1:
        X = np.hstack([_answers(labels, _clear_items(k, np.full(4, 3), rng), rng), X[:, :3]])
    X = _gappy(X, rng)
    X = rng.permutation(np.vstack([X, X[rng.choice(n, 50, replace=False)]]))
    if which == 0:
        return Table(X, GaussianMixture(k, covariance_type="diag"))
    return Table(_in_words(X, 20 if which == 2 else 4), LatentClass(k))


def dependent_pair(rng: np.random.Generator) -> Table:
    """Two classes of eight yes/no items; one repeats another in 30 % of the rows."""
    yes = np.where(rng.random(8) < 0.5, 0.2, 0.8)
    labels = rng.choice(2, N_ROWS, p=_shares(2, rng))
    X = (rng.random((N_ROWS, 8)) < np.where(labels[:, None], yes, 1 - yes)).astype(float)
    X[:, 1] = np.where(rng.random(N_ROWS) < 0.3, X[:, 0], X[:, 1])
    return Table(_gappy(X[:, rng.permutation(8)], rng), LatentClass(2))


def one_trait(rng: np.random.Generator) -> Table:
    """Ten items of one normal trait, of two values or of four in order, cut into two or three."""
    slope, d = rng.lognormal(0.3, 0.3, 10), 10
    trait = rng.normal(size=(N_ROWS, 1))
    cuts = 1 if rng.random() < 0.5 else 3
    where = np.sort(rng.normal(0, 1, (d, cuts)), axis=1)
    place = slope * trait + rng.logistic(size=(N_ROWS, d))
    X = np.sum(place[:, :, None] > slope[:, None] * where, axis=2).astype(float)
    X = _gappy(X, rng)
    return Table(X if cuts == 1 else _in_words(X, d), LatentClass(int(rng.integers(2, 4))))


def dependent_rows(rng: np.random.Generator) -> Table:
    """Two hundred subjects of five rows each, one after the other, without an identifier.

    Half of a subject's rows are of its own class. Within classes a third of the variance of numbers
    is between subjects; of items, 30 % of a subject's cells hold its own answer.
    """
    n, k = N_ROWS // 5, 2
    subject = rng.choice(k, n, p=_shares(k, rng))
    labels = np.where(rng.random((n, 5)) < 0.5, subject[:, None], rng.choice(k, (n, 5))).ravel()
    if rng.random() < 0.5:
        own = np.repeat(0.58 * rng.normal(size=(n, 5)), 5, axis=0)
        X = _means(k, 5, 4.0, rng)[labels] + own + 0.82 * rng.normal(size=(N_ROWS, 5))
        return Table(_gappy(X, rng), GaussianMixture(k, covariance_type="diag"))
    items = _clear_items(k, np.full(8, 2), rng)
    usual = np.repeat(_answers(subject, items, rng), 5, axis=0)
    X = _answers(labels, items, rng)
    X = np.where(rng.random(X.shape) < 0.3, usual, X)
    return Table(_gappy(X, rng), LatentClass(k))


FAULTS: dict[str, tuple[World, ...]] = {
    "one_cloud": (one_normal, one_trait),
    "repeated_rows": (duplicate_rows,),
    "dependent_within": (dependent_pair,),
    "rows_depend": (dependent_rows,),
}
"""Worlds by the concern that they should raise."""
SOUND: tuple[World, ...] = (
    sound_gaussian_mixture,
    sound_binary_classes,
    sound_latent_classes,
    sound_hidden_markov,
    sound_gamma_poisson,
    sound_dirichlet_allocation,
)
