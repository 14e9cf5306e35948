from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from halfseen.moments.product_mixture import mixture_start as starts
from halfseen.moments.product_mixture.encoding import Item
from halfseen.moments.product_mixture.mixture_start import item_start
from tests.moments.product_mixture.mixed import (
    Drawn,
    Statistics,
    decompose,
    drawn,
    matched,
    rows_of,
)

NAN = np.nan


def exact(levels, k, seed):
    """All rows that items with so many levels can have, and how likely each is."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(k, 4.0))
    odds = [rng.dirichlet(np.ones(n), k) for n in levels]  # (k, n) each
    table = np.array(list(product(*map(range, levels))), dtype=float)
    likely = np.ones((len(table), k)) * share
    for column, one in zip(table.T.astype(int), odds, strict=True):
        likely *= one[:, column].T
    items = [Item("levels", levels=tuple(map(float, range(n)))) for n in levels]
    truth = np.column_stack([level for one in odds for level in one.T])
    return Drawn(table, items, Statistics(tuple(levels)), share, truth), likely.sum(axis=1) * 1e9


@pytest.mark.parametrize(
    ("levels", "k"),
    [((3, 2, 3, 2), 2), ((3, 4, 2, 3, 3), 3), ((2,) * 7, 3), ((3, 3, 3, 4, 3, 3), 4)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_probabilities_give_exact_classes(levels, k, seed):
    table, weights = exact(levels, k, seed)
    start = table.start(weights=weights)
    order = matched(start, table.truth)
    np.testing.assert_allclose(start.weights[order], table.weights, atol=1e-6)
    np.testing.assert_allclose(start.statistics[order], table.truth, atol=1e-6)


def test_exact_probabilities_with_gaps_give_exact_classes():
    table, weights = exact((3, 2, 3, 2, 2), 2, 0)
    seen = np.array(list(product([True, False], repeat=5)))
    chance = np.where(seen, [0.3, 0.9, 0.5, 0.7, 0.4], [0.7, 0.1, 0.5, 0.3, 0.6]).prod(axis=1)
    gappy = np.concatenate([np.where(mask, table.table, NAN) for mask in seen])
    start = table.start(gappy, np.concatenate([weights * one for one in chance]))
    order = matched(start, table.truth)
    np.testing.assert_allclose(start.weights[order], table.weights, atol=1e-6)
    np.testing.assert_allclose(start.statistics[order], table.truth, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_classes_of_mixed_columns_with_gaps_are_found(seed):
    table = drawn(seed)
    start = table.start()
    assert len(start.weights) == 3
    assert start.n_supported == 2
    of_statistics, of_weights = table.errors(start)
    assert of_statistics < 0.2
    assert of_weights < 0.02


def test_classes_that_differ_in_spread_only_are_found():
    rng = np.random.default_rng(0)
    spread = np.where((rng.random(10_000) < 0.35)[:, None], 0.5, [1.5] * 6)
    X = np.where(rng.random((10_000, 6)) < 0.8, rng.normal(size=(10_000, 6)) * spread, NAN)
    items = [Item("number", 0.0, 1.0)] * 6
    start = item_start(
        rows_of(X), items, lambda b: b.values**2, np.arange(6), 2, np.sqrt, decompose
    )
    truth = np.array([[0.25] * 6, [2.25] * 6])
    order = matched(start, truth)
    np.testing.assert_allclose(start.weights[order], [0.35, 0.65], atol=0.02)
    np.testing.assert_allclose(start.statistics[order], truth, atol=0.15)  # 3.4 se


def test_a_spike_is_a_feature_of_its_own():
    rng = np.random.default_rng(0)
    hidden = rng.random(10_000) < 0.4
    X = rng.normal(size=(10_000, 8))  # the same in both classes but for how often it is zero
    X[rng.random(X.shape) < np.where(hidden, 0.7, 0.2)[:, None]] = 0.0
    items = [Item("number", 0.0, 1.0, spike=0.0)] * 8
    start = item_start(
        rows_of(X), items, lambda b: b.values == 0, np.arange(8), 2, np.sqrt, decompose
    )
    truth = np.array([[0.7] * 8, [0.2] * 8])
    order = matched(start, truth)
    np.testing.assert_allclose(start.weights[order], [0.4, 0.6], atol=0.02)
    np.testing.assert_allclose(start.statistics[order], truth, atol=0.02)


def test_a_weight_of_two_is_a_row_twice():
    table = drawn(n=2000)
    weights = np.random.default_rng(0).integers(1, 3, 2000)
    weighed = table.start(weights=weights.astype(float))
    twice = table.start(np.repeat(table.table, weights, axis=0))
    order = matched(weighed, twice.statistics)
    np.testing.assert_allclose(weighed.weights[order], twice.weights, atol=1e-8)
    np.testing.assert_allclose(weighed.statistics[order], twice.statistics, atol=1e-7)
    np.testing.assert_allclose(weighed.counts, twice.counts)


def test_threads_do_not_matter():
    table = drawn(n=20_000)
    rows = replace(rows_of(table.table), n_threads=2)
    owner = table.statistics.owner
    shared = item_start(rows, table.items, table.statistics, owner, 3, np.sqrt, decompose)
    np.testing.assert_allclose(shared.statistics, table.start().statistics, rtol=1e-9)


def test_one_wild_cell_hardly_matters():
    table = drawn()
    wild = table.table.copy()
    wild[np.flatnonzero(~np.isnan(wild[:, 0]))[0], 0] = 1e12
    one, other = table.start(), table.start(wild)
    others = table.statistics.owner != 0
    order = matched(replace(one, statistics=one.statistics[:, others]), other.statistics[:, others])
    np.testing.assert_allclose(one.weights[order], other.weights, atol=1e-2)
    np.testing.assert_allclose(
        one.statistics[order][:, others], other.statistics[:, others], atol=1e-2
    )


def test_more_items_than_can_be_counted_are_still_read(monkeypatch):
    monkeypatch.setattr(starts, "MOST_ITEMS", 9)
    table = drawn()
    of_statistics, of_weights = table.errors(table.start())
    assert of_statistics < 0.25
    assert of_weights < 0.03


def test_no_more_than_eight_classes_are_told_apart():
    start = drawn(kinds=("number",) * 14, n=3000).start(n_components=20)
    assert len(start.weights) == 8
    assert start.statistics.shape == (8, 28)
    assert start.places.shape == (8, 7)


def check_sane(start, n_statistics):
    k = len(start.weights)
    assert k >= 1
    assert start.weights.sum() == pytest.approx(1)
    assert start.places.shape == (k, k - 1)
    assert start.statistics.shape == (k, n_statistics)
    for one in (start.weights, start.places, start.statistics, start.spectrum):
        assert np.isfinite(one).all()


def constant(X):
    X[:, 2] = np.where(np.isnan(X[:, 2]), NAN, 3.0)
    return X


def never(X):
    X[:, 5] = NAN
    return X


def never_with_another(X):
    X[~np.isnan(X[:, 4]), :4] = NAN
    X[~np.isnan(X[:, 4]), 5:] = NAN
    return X


def never_together(X):
    keep = np.arange(len(X)) % X.shape[1]
    return np.where(keep[:, None] == np.arange(X.shape[1]), X, NAN)


def a_copy(X):
    X[:, 1] = X[:, 0]
    return X


ODD = {
    "constant": constant,
    "never observed": never,
    "never with another": never_with_another,
    "never together": never_together,
    "a copy of another": a_copy,
    "nothing at all": lambda X: np.full_like(X, NAN),
    "no rows": lambda X: X[:0],
    "one row": lambda X: X[:1],
    "two rows": lambda X: X[:2],
    "five rows": lambda X: X[:5],
    "the same row": lambda X: np.repeat(X[:1], 30, axis=0),
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("k", [1, 2, 5])
def test_odd_tables_have_a_start(odd, k):
    table = drawn(n=400)
    start = table.start(ODD[odd](table.table.copy()), n_components=k)
    check_sane(start, len(table.statistics.owner))


@pytest.mark.parametrize("n_items", [1, 2])
def test_fewer_than_three_items_have_one_class_with_the_means(n_items):
    table = drawn(kinds=("number",) * n_items, gaps=False)
    start = table.start(n_components=3)
    assert start.weights.tolist() == [1.0]
    means = np.column_stack([table.table, table.table**2]).mean(axis=0)
    np.testing.assert_allclose(np.sort(start.statistics[0]), np.sort(means))


def test_pure_noise_has_a_start():
    rng = np.random.default_rng(0)
    table = replace(drawn(kinds=("number",) * 8), items=[Item("number")] * 8)
    check_sane(table.start(rng.normal(size=(200, 8)), n_components=6), 16)


def test_triples_that_no_row_holds_are_told():
    table = drawn()
    X = table.table.copy()
    together = ~np.isnan(X[:, [0, 1, 2]]).any(axis=1)
    X[together, 2] = NAN
    assert table.start().n_unseen == 0
    assert table.start(X).n_unseen == 1
