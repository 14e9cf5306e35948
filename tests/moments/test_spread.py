"""How much features vary, against NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.rows import Block
from halfseen.moments.survey import Spread


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 4)) < 0.4, np.nan, rng.poisson(3.0, (50, 4)).astype(float))
    X[:, 2] = np.nan
    return X


def naive(X, origin, weights):
    seen = ~np.isnan(X)
    squares = np.where(seen, X - origin, 0.0) ** 2
    return (weights @ squares) / np.maximum(weights @ seen, 1e-300)


@pytest.mark.parametrize("weighted", [False, True])
def test_variances_are_mean_squares_of_what_is_observed(table, weighted):
    origin = np.array([1.0, 0.0, 5.0, -2.0])
    weights = np.random.default_rng(1).random(50) + 0.5 if weighted else None
    expected = naive(table, origin, np.ones(50) if weights is None else weights)
    summarise = Spread.about(origin)
    dense = summarise(Block.from_table(table, weights))
    sparse = SparseRows.of(csr_array(table), tuple("abcd"), weights=weights).accumulate(summarise)
    np.testing.assert_allclose(dense.variance, expected)
    seen = expected > 0  # of what is not, sparse sums leave a trace of rounding
    np.testing.assert_allclose(sparse.variance[seen], expected[seen])
    assert dense.variance[2] == 0  # never observed


def test_any_split_gives_the_same(table):
    summarise = Spread.about(np.zeros(4))
    parts = summarise(Block.from_table(table[:0])) + summarise(Block.from_table(table[:11]))
    parts = parts + summarise(Block.from_table(table[11:]))
    whole = summarise(Block.from_table(table))
    np.testing.assert_allclose(parts.square, whole.square)
    np.testing.assert_array_equal(parts.count, whole.count)
