import numpy as np
import pytest
from scipy.stats import norm

from halfseen.data.block import Block
from halfseen.moments.product_mixture.encoding import Encoding, Item, ItemSums
from tests.moments.product_mixture.mixed import rows_of

NAN = np.nan
ITEMS = [
    Item("number", 0.5, 2.0),
    Item("number", 0.5, 2.0, spike=0.0),
    Item("count", 1.2, 0.4),
    Item("levels", levels=(0.0, 1.0, 2.0, 3.0)),
    Item("levels", levels=(1.0, 5.0)),
]


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    number = rng.normal(size=(n, 2)) * 2
    number[rng.random(n) < 0.3, 1] = 0.0
    levels = rng.choice(4, n, p=[0.2, 0.5, 0.1, 0.2])
    two = rng.choice([1.0, 5.0], n)
    X = np.column_stack([number, rng.poisson(2.0, n), levels, two]).astype(float)
    return np.where(rng.random(X.shape) < 0.7, X, NAN)


def encoded(items, X, weights=None):
    rows = rows_of(X, weights)
    return Encoding.of(items, rows.accumulate(ItemSums.of(items)))


def naive(item, x):
    """The raw features of one cell."""
    if item.kind == "levels":
        return [float(x == level) for level in item.levels]
    t = np.sqrt(x + 3 / 8) if item.kind == "count" else x
    u = 2 * norm.cdf((t - item.middle) / item.spread) - 1
    at = x == item.spike
    return [0.0 if at else u, 0.0 if at else (3 * u**2 - 1) / 2, float(at)]


def test_features_are_white_within_an_item_and_zero_in_the_gaps():
    X = table()
    encoding = encoded(ITEMS, X)
    F = encoding.features(Block.from_table(X))
    assert encoding.width.tolist() == [2, 3, 2, 3, 1]
    for j in range(len(ITEMS)):
        own, seen = F[:, encoding.item == j], ~np.isnan(X[:, j])
        assert (own[~seen] == 0).all()
        np.testing.assert_allclose(own[seen].mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(np.cov(own[seen].T, bias=True), np.eye(own.shape[1]), atol=1e-10)


def test_features_span_what_a_naive_loop_gives():
    X = table()
    encoding = encoded(ITEMS, X)
    F = encoding.features(Block.from_table(X))
    for j, item in enumerate(ITEMS):
        seen = ~np.isnan(X[:, j])
        raw = np.array([naive(item, x) for x in X[seen, j]])
        left = np.column_stack([np.ones(len(raw)), raw])
        own = F[seen][:, encoding.item == j]
        back = left @ np.linalg.lstsq(left, own, rcond=None)[0]
        np.testing.assert_allclose(own, back, atol=1e-10)
        rank = np.linalg.matrix_rank(raw - raw.mean(axis=0), tol=1e-8)
        assert own.shape[1] == rank


def test_a_block_that_lies_row_by_row_gives_the_same():
    X = table()
    encoding = encoded(ITEMS, X)
    plain = Block(np.nan_to_num(X), ~np.isnan(X))
    as_it_came = encoding.features(Block.from_table(X))
    np.testing.assert_array_equal(encoding.features(plain), as_it_came)


def test_a_weight_of_two_is_a_row_twice():
    X = table()
    weights = np.random.default_rng(1).integers(1, 3, len(X)).astype(float)
    twice = np.repeat(X, weights.astype(int), axis=0)
    one, other = encoded(ITEMS, X, weights), encoded(ITEMS, twice)
    np.testing.assert_allclose(one.maps, other.maps, atol=1e-10)


def test_rare_levels_and_those_beyond_eight_go_with_the_commonest():
    counts = [3, 200, 90, 80, 70, 60, 50, 40, 30, 20, 15]
    X = np.repeat(np.arange(len(counts)), counts).astype(float)[:, None]
    encoding = encoded([Item("levels", levels=tuple(map(float, range(12))))], X)
    assert encoding.width.tolist() == [8]
    F = encoding.features(Block.from_table(X))
    left_out = np.isin(X[:, 0], [0, 1, 10])
    assert np.ptp(F[left_out], axis=0).max() == 0
    assert len(np.unique(F.round(9), axis=0)) == 9


def test_a_value_that_is_no_level_counts_as_what_is_left_out():
    X = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 7.0])[:, None]
    encoding = encoded([Item("levels", levels=(0.0, 1.0))], X)
    F = encoding.features(Block.from_table(X))
    np.testing.assert_array_equal(F[5], F[0])


@pytest.mark.parametrize("item", [*ITEMS, Item("number", NAN, NAN), Item("number", 1.0, 0.0)])
@pytest.mark.parametrize("X", [np.full((5, 1), 1.0), np.full((5, 1), NAN), np.empty((0, 1))])
def test_a_constant_or_empty_item_has_no_features(item, X):
    encoding = encoded([item], X)
    assert encoding.width.tolist() == [0]
    assert encoding.features(Block.from_table(X)).shape == (len(X), 0)


def test_without_a_spread_the_side_of_the_middle_is_seen():
    X = np.array([0.0, 1.0, 1.0, 2.0, 3.0])[:, None]
    F = encoded([Item("number", 1.0, 0.0)], X).features(Block.from_table(X))
    assert len(np.unique(F.round(9), axis=0)) == 3


def test_one_odd_cell_among_two_values_has_no_feature_of_its_own():
    X = np.append(np.repeat([0.0, 1.0], 2000), 1e12)[:, None]
    assert encoded([Item("number", 0.5, 0.5)], X).width.tolist() == [1]
