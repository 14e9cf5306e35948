"""Simulate tables from models, and add missing values.

>>> import numpy as np
>>> from halfseen import simulate
>>> rng = np.random.default_rng(0)
>>> X, labels = simulate.gaussian_mixture(5, [0.5, 0.5], [[0.0, 0.0], [9.0, 9.0]], 1.0, rng)
>>> simulate.independent_gaps(X, [1.0, 0.2], rng).shape
(5, 2)
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.sparse import csr_array
from scipy.special import expit

from halfseen.data.arrays import Array, Labels


def gaussian_mixture(
    n_rows: int,
    weights: ArrayLike,
    means: ArrayLike,
    variances: ArrayLike,
    rng: np.random.Generator,
) -> tuple[Array, Labels]:
    """Rows of a mixture of spherical Gaussians, and the component of each.

    ``weights`` (k,), ``means`` (k, d), ``variances`` one number or (k,).
    """
    weights, means = np.asarray(weights, float), np.asarray(means, float)
    labels = rng.choice(len(weights), size=n_rows, p=weights)
    spread = np.sqrt(np.broadcast_to(np.asarray(variances, float), weights.shape))[labels]
    return means[labels] + spread[:, None] * rng.standard_normal((n_rows, means.shape[1])), labels


def gamma_poisson(
    n_rows: int, topics: ArrayLike, shapes: ArrayLike, rate: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Rows of gamma-Poisson counts, and the loadings of each.

    ``topics`` (k, d) with rows that sum to one, ``shapes`` (k,).
    """
    topics, shapes = np.asarray(topics, float), np.asarray(shapes, float)
    loadings = rng.gamma(shapes, 1 / rate, size=(n_rows, len(shapes)))
    return rng.poisson(loadings @ topics).astype(float), loadings


def sparse_gamma_poisson(
    n_rows: int, topics: ArrayLike, shapes: ArrayLike, rate: float, rng: np.random.Generator
) -> tuple[csr_array, Array]:
    """The same as a sparse matrix, drawn item by item: for many features and few counts a row."""
    topics, shapes = np.asarray(topics, float), np.asarray(shapes, float)
    loadings = rng.gamma(shapes, 1 / rate, size=(n_rows, len(shapes)))
    counts = csr_array((n_rows, topics.shape[1]))
    for topic, loading in zip(topics, loadings.T, strict=True):
        row = np.repeat(np.arange(n_rows), rng.poisson(loading))
        below = np.cumsum(topic)
        word = np.searchsorted(below, rng.random(len(row)) * below[-1], side="right")
        counts = counts + csr_array((np.ones(len(row)), (row, word)), shape=counts.shape)
    counts.sum_duplicates()
    return counts, loadings


def without_blocks(X: csr_array, blocks: ArrayLike, row_observed: ArrayLike) -> csr_array:
    """A sparse table without blocks of columns that rows do not have.

    ``blocks`` (d,) numbers the block of each column from zero, ``row_observed`` (n, g) says which
    ones each row has.
    """
    counts = X.tocoo()
    row, column = counts.coords
    seen = np.asarray(row_observed)[row, np.asarray(blocks)[column]]
    return csr_array((counts.data[seen], (row[seen], column[seen])), shape=X.shape)


def independent_gaps(X: Array, observed: ArrayLike, rng: np.random.Generator) -> Array:
    """Remove cells of feature d independently, keeping a share ``observed[d]``."""
    return np.where(rng.random(X.shape) < np.asarray(observed, float), X, np.nan)


def block_gaps(X: Array, blocks: ArrayLike, observed: ArrayLike, rng: np.random.Generator) -> Array:
    """Remove blocks of features together, row by row.

    ``blocks`` (d,) numbers the block of each feature from zero, ``observed`` (g,) holds the
    probability that a block is observed in a row.
    """
    probability = np.asarray(observed, float)
    seen = rng.random((len(X), len(probability))) < probability
    return np.where(seen[:, np.asarray(blocks)], X, np.nan)


def value_gaps(
    X: Array,
    features: ArrayLike,
    observed: float,
    rng: np.random.Generator,
    *,
    driver: int | None = None,
    strength: float = 1.0,
) -> Array:
    """Remove cells of ``features`` depending on their values; high ones are seen more often.

    An entry is observed with a log-odds that grows by ``strength`` per standard deviation of the
    feature ``driver`` (missing at random if that one is complete) or, with no driver, of the entry
    itself (missing not at random); on average with probability ``observed``.
    """
    gappy = X.copy()
    for feature in np.atleast_1d(np.asarray(features)):
        cause = X[:, feature if driver is None else driver]
        score = strength * (cause - cause.mean()) / cause.std()
        level = brentq(lambda a, s=score: expit(a + s).mean() - observed, -50.0, 50.0)
        gappy[rng.random(len(X)) >= expit(level + score), feature] = np.nan
    return gappy
