"""Rows that count as their bin says, against the same rows with weights of their own."""

from dataclasses import astuple

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen.data.engines import memory
from halfseen.data.engines.batched import all_columns
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block
from halfseen.io.batches import open_batches
from halfseen.io.validation import read_batch
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

N, NAMES = 90, tuple("abcd")
ORIGIN = np.array([1.5, 0.0, 2.0, -1.0])
PER_ROW = np.random.default_rng(5).random(N) + 0.5
BINS = Bins.of_groups(np.random.default_rng(6).integers(12, size=N))
WEIGHTS = {
    "exponential": np.random.default_rng(7).exponential(size=12),
    "a part": (np.arange(12) % 3 > 0).astype(float),
    "repeated": np.arange(12) % 4.0,
}


def counts():
    rng = np.random.default_rng(0)
    return np.where(rng.random((N, 4)) < 0.3, np.nan, rng.poisson(2.0, (N, 4)).astype(float))


X = counts()
ROWS = {
    "dense": lambda: (MemoryRows(X, NAMES), np.ones(N)),
    "weighted": lambda: (MemoryRows(X, NAMES, PER_ROW), PER_ROW),
    "sparse": lambda: (SparseRows.of(csr_array(X), NAMES), np.ones(N)),
    "weighted sparse": lambda: (SparseRows.of(csr_array(X), NAMES, weights=PER_ROW), PER_ROW),
    "streamed": lambda: (
        all_columns(open_batches([X[:20], X[20:21], X[21:]], read_batch)),
        np.ones(N),
    ),
    "prepared": lambda: (MemoryRows(X, NAMES).recentred(np.zeros(4)), np.ones(N)),
}
SUMMARIES = {
    "features": lambda origin: FeatureSums.of,
    "pairs": PairSums.about,
    "triples": ThirdSums.about,
}
every_engine = pytest.mark.parametrize("kind", ROWS)
every_weight = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
every_sum = pytest.mark.parametrize("about", SUMMARIES.values(), ids=SUMMARIES)


@pytest.fixture(autouse=True)
def _blocks_of_17_rows(monkeypatch):
    for module in ("memory", "sparse_rows"):
        monkeypatch.setattr(f"halfseen.data.engines.{module}.FEWEST_ROWS", 17)
        monkeypatch.setattr(f"halfseen.data.engines.{module}.BLOCK_ENTRIES", 1)
    assert memory.FEWEST_ROWS == 17


def naive(table, per_row, weights):
    """One block of all rows with their weights; from_table leaves those of none out."""
    return Block.from_table(table, per_row * weights[BINS.labels])


def assert_same(ours, expected):
    for one, other in zip(astuple(ours), astuple(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@every_engine
@every_weight
@every_sum
def test_sums_are_those_of_rows_with_the_weights_of_their_bins(kind, weights, about):
    rows, per_row = ROWS[kind]()
    ours = reweighted(rows, BINS, weights).accumulate(about(ORIGIN))
    assert_same(ours, about(ORIGIN)(naive(X, per_row, weights)))


@every_engine
@every_weight
def test_selecting_features_commutes(kind, weights):
    rows, per_row = ROWS[kind]()
    chosen = np.array([True, False, True, True])
    ours = reweighted(rows, BINS, weights).select(chosen)
    assert ours.names == ("a", "c", "d") or kind == "streamed"
    assert len(ours.names) == 3
    expected = PairSums.about(ORIGIN[chosen])(naive(X[:, chosen], per_row, weights))
    assert_same(ours.accumulate(PairSums.about(ORIGIN[chosen])), expected)


@every_engine
@every_weight
def test_measuring_from_elsewhere_commutes(kind, weights):
    rows, per_row = ROWS[kind]()
    ours = reweighted(rows, BINS, weights).recentred(ORIGIN)
    expected = PairSums.about(ORIGIN)(naive(X, per_row, weights))
    assert_same(ours.accumulate(PairSums.about(np.zeros(4))), expected)


@every_engine
def test_it_is_sparse_if_the_rows_are(kind):
    rows, _ = ROWS[kind]()
    assert reweighted(rows, BINS, np.ones(12)).sparse == kind.endswith("sparse")


def test_blocks_that_count_once_are_not_copied():
    seen = []

    def note(block):
        seen.append(block)
        return 0

    rows = MemoryRows(X, NAMES).recentred(np.zeros(4))
    reweighted(rows, BINS, np.ones(12)).accumulate(note)
    assert all(ours is theirs for ours, theirs in zip(seen, rows.ready, strict=True))
