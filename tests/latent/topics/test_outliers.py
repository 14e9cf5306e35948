"""What is beyond the usual: nothing in the model's own draws, and errors that were put there."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen.data.block import Block
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import whole_table
from halfseen.latent.counts import count_limits
from halfseen.models import simulate

N, D, K = 1500, 12, 3


def drawn(seed, shape=1.0, length=60.0):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(D, 0.3), K)
    shapes = np.full(K, shape)
    X, _ = simulate.gamma_poisson(N, topics, shapes, shapes.sum() / length, rng)
    return simulate.independent_gaps(X, np.r_[np.ones(6), np.full(6, 0.5)], rng)


def in_memory(X):
    return MemoryRows(X, tuple(map(str, range(X.shape[1]))))


def calmed(rows):
    return count_limits(rows, rows.accumulate(FeatureSums.of)).masked(rows)


def usual_in(X):
    rows = in_memory(X)
    return count_limits(rows, rows.accumulate(FeatureSums.of))


def calm_table(X):
    return whole_table(calmed(in_memory(X)))


@pytest.mark.parametrize(
    ("shape", "length"), [(1.0, 60.0), (0.2, 60.0), (4.0, 60.0), (1.0, 3.0), (0.2, 600.0)]
)
def test_nothing_is_odd_in_the_models_own_draws(shape, length):
    odd = [
        usual_in(X).odd(Block.from_table(X)) for X in (drawn(s, shape, length) for s in range(9))
    ]
    assert sum(len(one.row) for one in odd) == 0
    assert sum(np.count_nonzero(one.long) for one in odd) == 0


def test_rows_with_nothing_odd_stay_as_they_are():
    rows = in_memory(drawn(0))
    assert calmed(rows) is rows


@pytest.mark.parametrize("seed", range(5))
def test_a_wild_count_is_a_gap_and_nothing_else_is(seed):
    X = drawn(seed)
    wild = X.copy()
    wild[70 + seed, seed] = 5000.0
    expected = X.copy()
    expected[70 + seed, seed] = np.nan
    np.testing.assert_array_equal(calm_table(wild), expected)


@pytest.mark.parametrize("seed", range(5))
def test_long_rows_are_empty_and_their_counts_are_not_called_wild(seed):
    X = drawn(seed)
    long = np.argsort(np.nansum(X, axis=1))[-400::100]
    X[long] *= 60
    odd = usual_in(X).odd(Block.from_table(X))
    np.testing.assert_array_equal(np.flatnonzero(odd.long), np.sort(long))
    assert len(odd.row) == 0
    assert np.isnan(calm_table(X)[long]).all()


def test_limits_hardly_move_with_one_count_in_a_hundred():
    X = drawn(3)
    wild = X.copy()
    hit = np.random.default_rng(0).random(X.shape) < 0.01
    wild[hit & (X > 0)] = 1e6
    before, after = usual_in(X), usual_in(wild)
    assert (after.most < 3 * before.most).all()
    assert after.longest < 3 * before.longest


def test_rows_that_show_little_do_not_look_long():
    X = drawn(4)
    X[300:, 1:] = np.nan  # what is left of a row is one count
    assert not usual_in(X).odd(Block.from_table(X)).long.any()


def test_sparse_rows_stay_sparse_and_have_the_same_limits():
    X = drawn(5, length=5.0)
    X[3, 4], X[10] = 900.0, X[10] * 500 + 100
    sparse = SparseRows.of(csr_array(np.where(X == 0, 0.0, X)), tuple(map(str, range(D))))
    ours = calmed(sparse)
    assert ours.sparse
    np.testing.assert_array_equal(whole_table(ours), calm_table(X))


@pytest.mark.parametrize("X", [np.zeros((5, 2)), np.full((4, 3), np.nan), np.ones((1, 1))])
def test_tables_with_nothing_to_tell_have_nothing_odd(X):
    odd = usual_in(X).odd(Block.from_table(X))
    assert len(odd.row) == 0
    assert not odd.long.any()
