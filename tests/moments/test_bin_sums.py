"""Sums of replicates, from those of bins, against the rows repeated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from halfseen.data.engines import memory
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block
from halfseen.moments.resampling import BinSums, OriginSums

D = 4
NAMES = tuple("abcd")
ORIGIN = np.array([1.5, 0.0, 2.0, -1.0])
BINS = {"dealt": Bins(7), "groups": Bins.of_groups(np.random.default_rng(9).integers(9, size=60))}
every_kind = pytest.mark.parametrize("bins", BINS.values(), ids=BINS)
law = settings(max_examples=40, deadline=None, derandomize=True)


def counts(n=60, seed=0):
    """Counts with gaps, an empty row, and a bin's worth of rows that lack a feature."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, D)) < 0.3, np.nan, rng.poisson(2.0, (n, D)).astype(float))
    X[3] = np.nan
    X[::7, 1] = np.nan
    return X


def linear(sums):
    """All that adds up."""
    return np.concatenate(
        [
            [sums.features.n_rows],
            *(sums.features.count, sums.features.total),
            *(sums.pairs.count.ravel(), sums.pairs.total.ravel()),
            *(sums.thirds.count.ravel(), sums.thirds.total.ravel()),
        ]
    )


def assert_same(ours, expected):
    np.testing.assert_allclose(linear(ours), linear(expected), rtol=1e-12, atol=1e-12)


def naive(X, weights=None):
    return OriginSums.about(ORIGIN)(Block.from_table(X, weights))


@every_kind
@law
@given(data=st.data())
def test_reweighted_bins_have_the_sums_of_the_rows_repeated(bins, data):
    X = counts()
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=bins.n, max_size=bins.n)))
    block = Block.from_table(X)
    ours = BinSums.triples(ORIGIN, bins)(block).reweighted(times.astype(float))
    assert_same(ours, naive(np.repeat(X, times[bins.of(block)], axis=0)))


@every_kind
def test_weights_of_bins_multiply_those_of_rows(bins):
    X, rng = counts(), np.random.default_rng(1)
    per_row, per_bin = rng.random(len(X)) + 0.5, rng.exponential(size=bins.n)
    block = Block.from_table(X, per_row)
    ours = BinSums.triples(ORIGIN, bins)(block).reweighted(per_bin)
    assert_same(ours, naive(X, per_row * per_bin[bins.of(block)]))


@every_kind
def test_bins_that_count_once_have_the_sums_of_all_rows(bins):
    sums = BinSums.triples(ORIGIN, bins)(Block.from_table(counts()))
    assert_same(sums.reweighted(np.ones(sums.n_bins)), sums.whole)
    assert sums.n_bins == bins.n


@every_kind
@pytest.mark.parametrize("rows_a_block", [1, 13, 60])
def test_any_split_and_either_kind_of_table_gives_the_same_bins(bins, rows_a_block, monkeypatch):
    monkeypatch.setattr(memory, "FEWEST_ROWS", rows_a_block)
    monkeypatch.setattr(memory, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr("halfseen.data.engines.sparse_rows.FEWEST_ROWS", rows_a_block)
    monkeypatch.setattr("halfseen.data.engines.sparse_rows.BLOCK_ENTRIES", 1)
    X = counts()
    summarise, at_once = BinSums.triples(ORIGIN, bins), Block.from_table(X)
    weights = np.random.default_rng(2).exponential(size=bins.n)
    expected = summarise(at_once)
    for rows in (MemoryRows(X, NAMES), SparseRows.of(csr_array(X), NAMES)):
        assert len(list(rows.blocks())) == -(-60 // rows_a_block)
        ours = rows.accumulate(summarise)
        np.testing.assert_allclose(ours.linear, expected.linear, rtol=1e-12, atol=1e-12)
        assert_same(ours.reweighted(weights), expected.reweighted(weights))


@every_kind
def test_sums_of_pairs_are_those_of_triples_without_the_triples(bins):
    block = Block.from_table(counts())
    weights = np.random.default_rng(3).exponential(size=bins.n)
    pairs = BinSums.pairs(ORIGIN, bins)(block).reweighted(weights)
    triples = BinSums.triples(ORIGIN, bins)(block).reweighted(weights)
    np.testing.assert_allclose(pairs.pairs.total, triples.pairs.total, rtol=1e-14)
    np.testing.assert_allclose(pairs.features.count, triples.features.count, rtol=1e-14)
    assert pairs.thirds.count.size == pairs.thirds.total.size == 0


def test_no_rows_are_neutral():
    summarise = BinSums.triples(ORIGIN, Bins(7))
    sums = summarise(Block.from_table(counts()))
    more = sums + summarise(Block.from_table(np.empty((0, D)), start=60))
    np.testing.assert_array_equal(more.linear, sums.linear)
