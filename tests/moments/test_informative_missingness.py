"""Shifts of values where others are missing, against Welch's statistic pair by pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfseen.data.rows import Block
from halfseen.moments.missing_patterns import CLEAR, FEW_ROWS, TELLING, GapValueSums

law = settings(max_examples=40, deadline=None, derandomize=True)
D = 4


def table(n=400, seed=0, shift=1.0):
    """Feature 2 is missing where feature 0 is high; others have gaps of no meaning."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1, 2, 3, 0.5] + [0, 10, -5, 1]
    gaps = rng.random((n, D)) < [0.0, 0.3, 0.0, 0.2]
    gaps[:, 2] = shift * X[:, 0] + rng.normal(size=n) > 0.4
    return np.where(gaps, np.nan, X)


def sums_of(X, weights=None, origin=None):
    origin = np.nanmean(X, axis=0) if origin is None else origin
    return GapValueSums.about(origin)(Block.from_table(X, weights))


def naive(X):
    """(feature, where missing, difference, deviation) of every pair that is clear and large."""
    found = []
    for i in range(X.shape[1]):
        for j in range(X.shape[1]):
            own = ~np.isnan(X[:, i])
            held = X[own & ~np.isnan(X[:, j]), i]
            lacking = X[own & np.isnan(X[:, j]), i]
            if min(len(held), len(lacking)) < FEW_ROWS:
                continue
            apart = lacking.mean() - held.mean()
            error = np.sqrt(held.var() / len(held) + lacking.var() / len(lacking))
            difference, deviation = apart / X[own, i].std(), apart / error
            if abs(deviation) >= CLEAR and abs(difference) >= TELLING:
                found.append((i, j, difference, deviation))
    return max(found, key=lambda one: abs(one[3]), default=None)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shift", [-2.0, -0.7, 0.0, 0.7])
def test_the_clearest_shift_is_welchs_of_the_clearest_pair(seed, shift):
    X = table(seed=seed, shift=shift)
    ours, expected = sums_of(X).clearest_shift(), naive(X)
    if shift == 0:
        assert ours is None
        assert expected is None
    else:
        assert (ours.feature, ours.where_missing) == expected[:2] == (0, 2)
        np.testing.assert_allclose(ours[2:], expected[2:], rtol=1e-9)
        assert np.sign(ours.difference) == np.sign(shift)


@law
@given(cuts=st.lists(st.integers(0, 400), max_size=5))
def test_any_split_gives_the_same(cuts):
    X = table()
    origin = np.nanmean(X, axis=0)
    parts = [sums_of(part, origin=origin) for part in np.split(X, sorted(cuts))]
    ours, whole = sum(parts[1:], start=parts[0]), sums_of(X)
    for mine, theirs in zip(vars(ours).values(), vars(whole).values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-9)


@law
@given(seed=st.integers(0, 2**32), most=st.integers(1, 5))
def test_weights_are_repetitions(seed, most):
    X, times = table(), np.random.default_rng(seed).integers(most + 1, size=400)
    origin = np.nanmean(X, axis=0)
    ours = sums_of(X, times.astype(float), origin)
    repeated = sums_of(np.repeat(X, times, axis=0), origin=origin)
    for mine, theirs in zip(vars(ours).values(), vars(repeated).values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-9)


@law
@given(
    scale=st.lists(st.floats(1e-3, 1e3), min_size=D, max_size=D),
    offset=st.lists(st.floats(-1e3, 1e3), min_size=D, max_size=D),
)
def test_units_of_features_do_not_matter(scale, offset):
    ours = sums_of(table() * scale + offset).clearest_shift()
    expected = sums_of(table()).clearest_shift()
    assert ours[:2] == expected[:2]
    np.testing.assert_allclose(ours[2:], expected[2:], rtol=1e-5)


def test_the_origin_does_not_matter():
    X = table()
    ours = sums_of(X, origin=np.nanmean(X, axis=0) + 0.5).clearest_shift()
    np.testing.assert_allclose(ours, sums_of(X).clearest_shift(), rtol=1e-9)


def test_a_shift_that_is_clear_but_small_is_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80_000, 2))
    X[:, 1] = np.where(rng.random(len(X)) < 0.5 + 0.02 * X[:, 0].clip(-3, 3), np.nan, X[:, 1])
    missing = np.isnan(X[:, 1])
    apart = X[missing, 0].mean() - X[~missing, 0].mean()
    assert CLEAR * 2 / np.sqrt(len(X)) < apart < TELLING
    assert sums_of(X).clearest_shift() is None


def test_too_few_rows_on_either_side_say_nothing():
    X = table(200)
    X[:, 2] = 1.0
    X[np.argsort(X[:, 0])[-(FEW_ROWS - 1) :], 2] = np.nan
    assert sums_of(X).clearest_shift() is None
    X[np.argsort(X[:, 0])[-FEW_ROWS:], 2] = np.nan
    assert sums_of(X).clearest_shift()[:2] == (0, 2)


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((0, 3)),
        np.full((50, 3), np.nan),
        np.ones((200, 3)),
        np.where(np.arange(200)[:, None] % 2, [[1.0, 2.0, np.nan]], [[1.0, np.nan, 3.0]]),
    ],
    ids=["no rows", "nothing", "constant", "constant with gaps"],
)
def test_what_does_not_vary_does_not_shift(X):
    assert sums_of(X, origin=np.zeros(3)).clearest_shift() is None
