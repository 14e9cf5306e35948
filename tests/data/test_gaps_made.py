"""Blocks with some entries made gaps, rows emptied, values clipped: as in a table of NaNs."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen.data.block import Block
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import with_gaps

N, D = 40, 6


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (N, D)).astype(float)
    X[rng.random((N, D)) < 0.2] = np.nan
    return X


def ready(X):
    return Block(np.nan_to_num(X), ~np.isnan(X), np.arange(1.0, N + 1), 7)


def as_it_came(X):
    return Block.from_table(X, np.arange(1.0, N + 1), 7)


def of_some_columns(X):
    wide = np.column_stack([np.full(N, 9.0), X])
    chosen = np.r_[False, np.ones(D, bool)]
    return Block.from_table(wide, np.arange(1.0, N + 1), 7).select(chosen)


def sparse(X):
    names = tuple(map(str, range(D)))
    rows = SparseRows.of(csr_array(X), names, weights=np.arange(1.0, N + 1), first=7)
    return next(rows.blocks())


def sparse_in_blocks(X):
    column_block, row_observed = np.arange(D) // 2, ~np.isnan(X).reshape(N, 3, 2).all(axis=2)
    inside = np.where(row_observed[:, column_block], X, 0.0)
    names = tuple(map(str, range(D)))
    more = {"weights": np.arange(1.0, N + 1), "first": 7}
    rows = SparseRows.of(csr_array(inside), names, column_block, row_observed, **more)
    return next(rows.blocks())


every_block = pytest.mark.parametrize(
    "block_of", [ready, as_it_came, of_some_columns, sparse, sparse_in_blocks]
)


def assert_is(block, X):
    np.testing.assert_array_equal(with_gaps(block), X)
    np.testing.assert_array_equal(block.weights, np.arange(1.0, N + 1))
    assert (block.start, block.n_features) == (7, D)
    basis = np.random.default_rng(1).normal(size=(D, 2))
    centred = np.nan_to_num(X - 0.5)
    np.testing.assert_allclose(block.deviations(np.full(D, 0.5)).onto(basis), centred @ basis)
    np.testing.assert_allclose(block.presence().onto(basis), ~np.isnan(X) @ basis)
    theirs = FeatureSums.of(as_it_came(X))
    for one, other in zip(vars(FeatureSums.of(block)).values(), vars(theirs).values(), strict=True):
        np.testing.assert_allclose(one, other)


@every_block
def test_entries_that_are_taken_out_are_gaps(block_of):
    X, expected = table(), table()
    hit = np.random.default_rng(2).random((N, D)) < 0.3  # zeros and gaps among them
    expected[hit] = np.nan
    assert_is(block_of(X).without(*np.nonzero(hit)), expected)
    np.testing.assert_array_equal(X, table())


@every_block
def test_emptied_rows_have_nothing_observed(block_of):
    X, expected = table(), table()
    chosen = np.arange(N) % 3 == 0
    expected[chosen] = np.nan
    assert_is(block_of(X).emptied(chosen), expected)
    np.testing.assert_array_equal(X, table())


@every_block
@pytest.mark.parametrize("low", [0.0, 1.0])
def test_clipped_values_are_at_their_limits(block_of, low):
    X = table()
    low, high = np.full(D, low), np.array([1.0, 2.0, 1.5, np.inf, 3.0, 1.0])
    assert_is(block_of(X).clipped(low, high), np.clip(X, low, high))
