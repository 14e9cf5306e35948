"""Where components might be: distances with gaps against a loop, and draws that repeat."""

import numpy as np
import pytest

from halfseen.latent.initialisation import BLUR, EVERY_WAY, FARTHEST, Seeding


def table(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1, 1, 1] + [0, 100, 0, 0, 0]
    X[0, 0] = 1e9
    X[rng.random(X.shape) < 0.4] = np.nan
    X[:, 3] = np.where(np.isnan(X[:, 3]), 0.5, X[:, 3])
    return X


def on_their_scale(X):
    low, middle, high = np.nanquantile(X, [0.1, 0.5, 0.9], axis=0)
    return np.clip((X - middle) / ((high - low) / 2.563), -FARTHEST, FARTHEST)


def test_distances_are_means_over_what_both_hold_as_if_all_were_held():
    X, seeding = table(), Seeding.of(table())
    scaled = on_their_scale(X)
    found = seeding.distances(seeding.values[:7], seeding.observed[:7])
    for n, row in enumerate(scaled):
        for c, seed in enumerate(scaled[:7]):
            both = ~np.isnan(row) & ~np.isnan(seed)
            expected = 5 * np.mean((row - seed)[both] ** 2) if both.any() else 5 * 2.0
            assert found[n, c] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_rows_that_share_nothing_are_as_far_as_rows_are_from_each_other():
    seeding = Seeding.of(np.array([[1.0, np.nan], [np.nan, 3.0], [2.0, 5.0], [0.0, 4.0]]))
    assert seeding.distances(seeding.values[:1], seeding.observed[:1])[1, 0] == 2 * 2.0


@pytest.mark.parametrize("k", [1, 2, 4])
def test_rows_have_most_of_the_nearest_seed_and_something_of_all(k):
    shares = Seeding.of(table()).nearest(k, np.random.default_rng(0))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    values = {round(BLUR / k, 12), round(1 - BLUR + BLUR / k, 12)}
    assert set(np.unique(shares.round(12))) <= values


def test_the_same_seed_draws_the_same():
    seeding = Seeding.of(table())
    one, other = (seeding.nearest(3, np.random.default_rng(4)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, seeding.nearest(3, np.random.default_rng(5)))


def test_seeds_that_are_given_come_first():
    X = np.repeat([[0.0, 0.0], [10.0, 10.0], [0.0, 10.0]], 20, axis=0)
    X += 0.01 * np.random.default_rng(0).normal(size=X.shape)
    given = np.array([[10.0, 10.0], [0.0, 10.0]])
    shares = Seeding.of(X).nearest(3, np.random.default_rng(0), given)
    np.testing.assert_array_equal(shares.argmax(axis=1), np.repeat([2, 0, 1], 20))


def test_groups_far_apart_get_a_seed_each():
    rng = np.random.default_rng(0)
    X = np.repeat(100 * np.eye(4), 25, axis=0) + rng.normal(size=(100, 4))
    seeding = Seeding.of(X)
    for seed in range(5):
        label = seeding.nearest(4, np.random.default_rng(seed)).argmax(axis=1).reshape(4, 25)
        assert (label == label[:, :1]).all()
        assert len(set(label[:, 0])) == 4


@pytest.mark.parametrize("n", [100, 900], ids=["all are joined", "others follow"])
def test_groups_far_apart_are_joined_in_every_way(n):
    rng = np.random.default_rng(0)
    group = rng.integers(4, size=n)
    X = 100 * np.eye(4)[group] + rng.normal(size=(n, 4))
    X[rng.random(X.shape) < 0.02] = np.nan
    X[np.isnan(X).all(axis=1)] = 0.0
    found = list(Seeding.of(X).joined(4, EVERY_WAY))
    assert len(found) == len(EVERY_WAY)
    for shares in found:
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert shares.shape == (n, 4)
        assert (shares > 0).all()
    label = found[0].argmax(axis=1)
    assert sum(len(set(group[label == one])) == 1 for one in range(4)) >= 3


def test_joining_rows_needs_no_chance():
    one, other = (list(Seeding.of(table()).joined(3, EVERY_WAY)) for _ in range(2))
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_more_components_than_rows_and_rows_that_are_alike_do_no_harm():
    alike = Seeding.of(np.ones((3, 2)))
    assert alike.nearest(5, np.random.default_rng(0)).shape == (3, 5)
    for shares in alike.joined(5, EVERY_WAY):
        assert shares.shape == (3, 5)


def test_a_feature_that_no_row_holds_changes_nothing():
    X = table()
    empty = np.column_stack([X, np.full(len(X), np.nan)])
    given = np.vstack([np.nan_to_num(X[:2])])
    ours = Seeding.of(X).nearest(3, np.random.default_rng(0), given)
    more = np.column_stack([given, [7.0, 8.0]])
    theirs = Seeding.of(empty).nearest(3, np.random.default_rng(0), more)
    np.testing.assert_array_equal(ours, theirs)


def test_a_row_alone_is_joined_to_nothing():
    for shares in Seeding.of(np.array([[1.0, np.nan, 3.0]])).joined(2, EVERY_WAY):
        assert shares.shape == (1, 2)
        assert shares[0].argmax() == 0
        assert shares.sum() == pytest.approx(1)
