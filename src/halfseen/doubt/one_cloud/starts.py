"""Where mixtures start: k-means on standardised and on sphered rows, and Ward's tree."""

from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from halfseen.doubt.one_cloud.elliptical import fitted_normal
from halfseen.doubt.one_cloud.gaps import Gaps
from halfseen.doubt.one_cloud.mixture import Table
from halfseen.method.k_means import k_means
from halfseen.rows.arrays import Array, Labels

MOST_IN_TREE = 600
"""Rows up to which Ward's tree is cut as well: it takes all pairs of rows."""
RUNS = 6
"""Runs of k-means from different centres, of which the tightest is taken."""
SHARE = 0.9
"""Of a row, that starts in the group it was put in; the rest is spread over all."""


@dataclass(frozen=True, eq=False)
class Starts:
    """Views of the rows that k-means sees, and trees of them."""

    views: tuple[Array, ...]  # (n, f) each
    trees: tuple[Array, ...]
    filled: Table  # the rows without gaps among the numbers

    @classmethod
    def of(cls, table: Table, seed: int) -> "Starts":
        """Gaps of numbers are filled by draws from one normal cloud; categories are indicators."""
        rng = np.random.default_rng(seed)
        views: list[Array] = []
        whole = table
        categories = _scaled(table.indicators)
        if table.n_numbers:
            normal = fitted_normal(table.numbers)
            filled = table.numbers.drawn(normal.mean, normal.scatter, rng)
            whole = Table(Gaps.of(filled), table.indicators, table.levels)
            views.append(np.hstack([_scaled(filled), categories]))
            if table.n_numbers > 1:
                values, vectors = np.linalg.eigh(np.cov(filled.T))
                sphered = (filled - filled.mean(axis=0)) @ vectors / np.sqrt(values + 1e-9)
                views.append(np.hstack([sphered, categories]))
        else:
            views.append(categories)
        few = table.n_rows <= MOST_IN_TREE
        trees = [linkage(view, "ward") for view in views] if few else []
        return cls(tuple(views), tuple(trees), whole)

    def responsibilities(self, k: int, seed: int) -> list[Array]:
        """One start (n, k) from each view and tree."""
        labels = [_k_means(view, k, seed) for view in self.views]
        labels += [fcluster(tree, k, "maxclust").astype(np.intp) - 1 for tree in self.trees]
        found = [np.eye(k)[one] for one in labels if len(np.unique(one)) == k]
        return [SHARE * one + (1 - SHARE) / k for one in found]


def _k_means(view: Array, k: int, seed: int) -> Labels:
    """The tightest of several runs; labels (n,)."""
    random, once = np.random.default_rng(seed), np.ones(len(view))
    best, least = np.zeros(len(view), dtype=np.intp), np.inf
    for _ in range(RUNS):
        labels = k_means(view, once, k, random).argmax(axis=1)
        member = np.eye(k)[labels]
        centres = member.T @ view / np.maximum(member.sum(axis=0), 1.0)[:, None]
        within = float(np.square(view - centres[labels]).sum())
        if within < least:
            best, least = labels, within
    return best


def _scaled(table: Array) -> Array:
    return np.asarray((table - table.mean(axis=0)) / np.maximum(table.std(axis=0), 1e-9))
