"""The laws of engines: wherever rows live, sums over them are the same, to nine digits.

The kit goes over every class of the package that accumulates. One without an entry here fails it.
"""

import inspect
import pkgutil
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_array

import halfseen.data
from halfseen.data.engines.batched import BatchedRows, all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import MemoryRows, PreparedRows
from halfseen.data.engines.precomputed import SummedRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block, MappedRows, Recentring, Rows, with_gaps
from halfseen.io.batches import open_batches
from halfseen.io.dask_collections import partitions_of, rows_of_collection
from halfseen.io.validation import read_batch
from halfseen.moments.second_moment import PairSums
from halfseen.moments.third_moment import ThirdSums

N, NAMES = 700, tuple("01234")
ORIGIN = np.array([1.5, 0.0, 2.0, -1.0, 0.5])
SOME = np.array([True, False, True, True, False])


def counts():
    rng = np.random.default_rng(0)
    X = rng.poisson(3.0, (N, 5)).astype(float)
    X[rng.random((N, 5)) < [0, 0.2, 0.5, 0.5, 0.9]] = np.nan
    X[17] = np.nan
    return X


X = counts()


def on_workers():
    import dask.array

    parts = partitions_of(dask.array.from_array(X, chunks=(150, -1)))
    return rows_of_collection(parts, NAMES, None)


ENGINES = {
    MemoryRows: lambda: MemoryRows(X, NAMES, n_threads=2),
    PreparedRows: lambda: MemoryRows(X, NAMES).recentred(np.zeros(5)),
    SparseRows: lambda: SparseRows.of(csr_array(X), NAMES),
    BatchedRows: lambda: all_columns(open_batches([X[:20], X[20:21], X[21:]], read_batch)),
    ClusterRows: on_workers,
    "blocks changed": lambda: MemoryRows(X + 3, NAMES).map(
        lambda block: block.recentred(np.full(5, 3.0))
    ),
    "columns changed": lambda: MemoryRows(X + 3, NAMES).map(
        Recentring(np.full(5, 3.0)), acts_on="columns", dense=True
    ),
    "columns in another order": lambda: MemoryRows(X[:, ::-1].copy(), NAMES[::-1]).map(
        lambda block: Block.from_table(with_gaps(block)[:, ::-1], None, block.start), names=NAMES
    ),
    "rows weighed": lambda: reweighted(MemoryRows(X, NAMES), Bins.of_rows(N), np.ones(200)),
}
SUMMARIES = {
    "features": lambda at: FeatureSums.of,
    "pairs": PairSums.about,
    "triples": ThirdSums.about,
}
every_engine = pytest.mark.parametrize(
    "engine", ENGINES, ids=lambda engine: getattr(engine, "__name__", engine)
)
every_sum = pytest.mark.parametrize("about", SUMMARIES.values(), ids=SUMMARIES)


def assert_same(ours, theirs):
    for one, other in zip(vars(ours).values(), vars(theirs).values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@every_engine
@every_sum
def test_sums_are_those_of_one_block_of_all_rows(engine, about):
    assert_same(ENGINES[engine]().accumulate(about(ORIGIN)), about(ORIGIN)(Block.from_table(X)))


@every_engine
@every_sum
def test_some_features_are_the_table_without_the_others(engine, about):
    chosen = ENGINES[engine]().select(SOME)
    assert chosen.names == ("0", "2", "3")
    naive = about(ORIGIN[SOME])(Block.from_table(X[:, SOME]))
    assert_same(chosen.accumulate(about(ORIGIN[SOME])), naive)


@every_engine
@every_sum
def test_rows_from_another_origin_are_the_table_less_that(engine, about):
    moved = ENGINES[engine]().recentred(ORIGIN)
    naive = about(np.zeros(5))(Block.from_table(X - ORIGIN))
    assert_same(moved.accumulate(about(np.zeros(5))), naive)
    assert_same(
        moved.select(SOME).accumulate(PairSums.about(np.zeros(3))),
        PairSums.about(np.zeros(3))(Block.from_table((X - ORIGIN)[:, SOME])),
    )


@every_engine
def test_condensed_is_the_finished_sum(engine):
    rows = ENGINES[engine]()
    total = rows.condensed(FeatureSums.of, lambda sums: sums.count.sum())
    assert total == pytest.approx(np.count_nonzero(~np.isnan(X)))


@every_engine
def test_what_is_carried_stays_beside_its_rows(engine):
    carried = ENGINES[engine]().carrying(lambda block: np.zeros(len(block)))

    def step(block, kept):
        after = kept + block.values[:, 0]
        return np.array([after.sum()]), after

    first, second = carried.accumulate(step), carried.accumulate(step)
    assert first[0] == pytest.approx(np.nansum(X[:, 0]))
    assert second[0] == pytest.approx(2 * np.nansum(X[:, 0]))


@every_engine
def test_rows_have_their_numbers(engine):
    def numbered(block):
        return np.array([np.sum(block.start + np.arange(len(block)))])

    assert ENGINES[engine]().accumulate(numbered)[0] == N * (N - 1) / 2


def test_rows_that_are_gone_say_so():
    with pytest.raises(DataError, match="The rows of a stream are gone"):
        SummedRows(NAMES).accumulate(FeatureSums.of)


def test_every_class_that_accumulates_is_in_the_kit():
    found = set()
    for module in pkgutil.walk_packages(halfseen.data.__path__, "halfseen.data."):
        for _, kind in inspect.getmembers(import_module(module.name), inspect.isclass):
            if issubclass(kind, Rows):
                found.add(kind)
    assert found - set(ENGINES) == {Rows, MappedRows, SummedRows}
