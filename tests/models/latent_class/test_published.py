"""Published tables: one call reaches the maximum that many random starts of plain EM find."""

import itertools

import numpy as np
import pytest

from benchmarks.class_tables import (
    CARCINOMA,
    GSS82,
    LEADING_CROWD,
    LSAT_6,
    VALUES,
    carcinoma,
    cross_table,
)
from halfseen import LatentClass

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning"
)  # of LSAT, 3


def answers(counts):
    items = int(np.log2(len(counts)))
    return np.array(list(itertools.product([0.0, 1.0], repeat=items))), np.array(counts, float)


def plain_em(X, counts, k, seed):
    """The log-likelihood that one random start leads to."""
    rng = np.random.default_rng(seed)
    weights, chance = np.full(k, 1 / k), rng.uniform(0.1, 0.9, size=(k, X.shape[1]))
    height = -np.inf
    for _ in range(20_000):
        joint = weights * np.exp(X @ np.log(chance).T + (1 - X) @ np.log1p(-chance).T)
        total = joint.sum(axis=1)
        before, height = height, float(counts @ np.log(total))
        if height - before < 1e-10:
            break
        shares = joint / total[:, None] * counts[:, None]
        weights = shares.sum(axis=0) / counts.sum()
        chance = np.clip(shares.T @ X / shares.sum(axis=0)[:, None], 1e-12, 1 - 1e-12)
    return height


def ours(X, counts, k):
    rows = np.repeat(X, counts.astype(int), axis=0)
    model = LatentClass(k, random_state=0).fit(rows)
    assert set(model.kinds_.values()) == {"binary"}
    return float(counts @ model.score_samples(X))


@pytest.mark.parametrize(
    ("counts", "k"), [(VALUES, 2), (LEADING_CROWD, 2), (LSAT_6, 2), (LSAT_6, 3)]
)
def test_one_call_reaches_what_many_random_starts_find(counts, k):
    X, counts = answers(counts)
    best = max(plain_em(X, counts, k, seed) for seed in range(8))
    assert ours(X, counts, k) > best - 0.01


@pytest.mark.parametrize(("counts", "published"), [(VALUES, 2.72), (LEADING_CROWD, 249.50)])
def test_two_classes_fit_as_well_as_was_published(counts, published):
    """The likelihood ratio against the saturated model, as Goodman (1974) has it."""
    X, counts = answers(counts)
    saturated = float(counts @ np.log(counts / counts.sum()))
    assert 2 * (saturated - ours(X, counts, 2)) == pytest.approx(published, abs=0.01)


@pytest.mark.parametrize(
    ("table", "k", "published"),
    [
        (carcinoma(), 2, -317.2568),
        (carcinoma(), 3, -293.705),
        (carcinoma(), 4, -289.2858),
        (cross_table(GSS82, 3, 2, 2, 3), 3, -2754.545),
        (cross_table(GSS82, 3, 2, 2, 3), 4, -2746.621),  # by plain EM, 50 random starts
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_every_seed_ends_at_the_maximum_that_polca_tells(table, k, published, seed):
    kinds = dict.fromkeys(range(table.shape[1]), "categorical")
    model = LatentClass(k, kinds=kinds, random_state=seed).fit(table)
    assert float(model.score_samples(table).sum()) == pytest.approx(published, abs=0.01)


def test_the_published_tables_have_as_many_rows_as_people_and_slides():
    assert sum(CARCINOMA.values()) == 118
    assert sum(GSS82) == 1202


def test_a_seed_gives_the_same_classes_whatever_the_order_of_rows_and_columns():
    table = cross_table(GSS82, 3, 2, 2, 3)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(table)), rng.permutation(table.shape[1])

    def height(X):
        kinds = dict.fromkeys(range(X.shape[1]), "categorical")
        return LatentClass(4, kinds=kinds, random_state=0).fit(X).lower_bound_

    assert height(table[rows]) == height(table)
    assert height(table[:, columns]) == pytest.approx(height(table), abs=1e-9)
