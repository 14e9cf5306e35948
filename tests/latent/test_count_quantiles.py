"""How large counts are: against the counts themselves."""

import numpy as np
import pytest

from halfseen.data.block import Block
from halfseen.latent import counts as count_quantiles
from halfseen.latent.counts import CountTails, lower_edge, size_of


def counts(seed=0, n=400):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.5, [2.0, 40.0, 900.0], (n, 3))).astype(float)
    X[rng.random((n, 3)) < [0.0, 0.3, 0.5]] = np.nan
    return np.column_stack([X, np.zeros(n)])


def test_every_count_is_between_the_edges_of_its_size():
    values = np.unique(np.concatenate([np.arange(1.0, 5000.0), 2.0 ** np.arange(0, 60, 0.25)]))
    size = np.array([size_of(value) for value in values])
    assert (lower_edge(size) <= values * (1 + 1e-9)).all()
    assert (values < lower_edge(size + 1) * (1 + 1e-9)).all()
    assert (lower_edge(size + 1) <= np.maximum(1.1 * values, values + 1)).all()


def test_small_counts_are_kept_as_they_are():
    assert [size_of(float(count)) for count in range(1, 33)] == list(range(1, 33))


def test_every_size_of_a_feature_is_weighed_once_and_in_order():
    X, weights = counts(), np.arange(1.0, 401.0)
    expected = {}
    for (row, feature), count in np.ndenumerate(X):
        if count >= 1:
            key = feature * count_quantiles.N_SIZES + size_of(count)
            expected[key] = expected.get(key, 0.0) + weights[row]
    tails = CountTails.of(Block.from_table(X, weights))
    assert tails.code.tolist() == sorted(expected)
    np.testing.assert_allclose(tails.weight, [expected[code] for code in sorted(expected)])


def test_counts_above_zero_are_counted_by_weight():
    X, weights = counts(), np.random.default_rng(1).random(400) + 0.5
    tails = CountTails.of(Block.from_table(X, weights))
    expected = ((X > 0) * weights[:, None]).sum(axis=0)
    np.testing.assert_allclose(tails.totals(), expected)


def test_no_count_reaches_the_largest():
    X = counts()
    largest = CountTails.of(Block.from_table(X)).largest()
    top = np.nanmax(X, axis=0)
    assert (largest[:3] > top[:3]).all()
    assert (largest[:3] <= np.maximum(1.1 * top[:3], top[:3] + 1)).all()
    assert largest[3] == 0


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.02, 0.0])
def test_such_a_share_of_counts_reaches_the_quantile(share):
    X = counts()
    reached = CountTails.of(Block.from_table(X)).reached_by(np.full(4, share))
    assert np.isnan(reached[3])
    for feature in range(3):
        above = X[X[:, feature] > 0, feature]
        # A count of 3 is spread over 3 to 4: those of its size may lie to both sides.
        lower = np.count_nonzero(above >= 1.1 * reached[feature] + 1) / len(above)
        upper = np.count_nonzero(above >= reached[feature] / 1.1 - 1) / len(above)
        assert lower <= share + 1e-12 <= upper + 2e-12


def test_quantiles_of_counts_of_one_size_go_evenly_through_it():
    tails = CountTails.of(Block.from_table(np.full((10, 1), 3.0)))
    for share in (0.0, 0.25, 1.0):
        assert tails.reached_by(np.array([share]))[0] == pytest.approx(4 - share)


def test_sums_below_a_limit_are_those_of_the_counts_up_to_it():
    X = np.array([[1.0, 7.0], [3.0, 9.0], [30.0, np.nan], [0.0, 500.0]])
    tails = CountTails.of(Block.from_table(X))
    np.testing.assert_allclose(tails.sums_below(np.array([10.0, np.inf]))[0], 4.0)
    np.testing.assert_allclose(tails.sums_below(np.array([10.0, np.inf]))[1], 516.0, rtol=0.05)


def test_numbers_of_rows_are_sketched_like_counts():
    X = counts()
    of_totals = CountTails.of_rows(lambda block: block.values.sum(axis=1)[:, None])
    ours = of_totals(Block.from_table(X))
    theirs = CountTails.of(Block.from_table(np.nansum(X, axis=1)[:, None]))
    np.testing.assert_array_equal(ours.code, theirs.code)
    np.testing.assert_array_equal(ours.weight, theirs.weight)
