"""Rows gathered, all or some drawn by lot, are the same from every engine."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from halfseen.data.engines.batched import all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.rows import Gathered, gathered, whole_table
from halfseen.data.sampling import sample_rows
from halfseen.io.batches import open_batches
from halfseen.io.dask_collections import partitions_of, rows_of_collection
from halfseen.io.validation import read_batch

N_ROWS, D = 3000, 4
rng = np.random.default_rng(0)
TABLE = rng.poisson(2.0, (N_ROWS, D)).astype(float)
TABLE[rng.random(TABLE.shape) < 0.2] = np.nan
NAMES = tuple("0123")


def on_a_cluster():
    array = pytest.importorskip("dask.array").from_array(TABLE, chunks=(700, D))
    rows = rows_of_collection(partitions_of(array), NAMES, None)
    assert isinstance(rows, ClusterRows)
    return rows


ENGINES = {
    "memory": lambda: MemoryRows(TABLE, NAMES),
    "threads": lambda: MemoryRows(TABLE, NAMES, n_threads=3),
    "sparse": lambda: SparseRows.of(csr_array(TABLE), NAMES),
    "batches": lambda: all_columns(
        open_batches([TABLE[:10], TABLE[10:10], TABLE[10:]], read_batch), memory=1e5
    ),
    "cluster": on_a_cluster,
}
every_engine = pytest.mark.parametrize("rows", ENGINES.values(), ids=ENGINES)


@every_engine
def test_all_rows_come_in_their_order(rows):
    np.testing.assert_array_equal(whole_table(rows()), TABLE)


@every_engine
@pytest.mark.parametrize("most", [1, 250, N_ROWS - 1])
def test_rows_drawn_by_lot_are_the_same_whatever_the_engine(rows, most):
    numbers = np.sort(np.random.default_rng(0).choice(N_ROWS, most, replace=False))
    sample = sample_rows(rows(), most)
    np.testing.assert_array_equal(sample.numbers, numbers)
    np.testing.assert_array_equal(sample.table, TABLE[numbers])
    assert sample.rows.names == NAMES


@pytest.mark.parametrize("most", [N_ROWS, N_ROWS + 1])
def test_few_rows_are_all_taken(most):
    sample = sample_rows(MemoryRows(TABLE, NAMES), most)
    np.testing.assert_array_equal(sample.numbers, np.arange(N_ROWS))
    np.testing.assert_array_equal(sample.table, TABLE)


@pytest.mark.parametrize("table", [np.empty((0, 2)), np.full((1, 2), np.nan)])
def test_no_rows_and_empty_rows_are_gathered_too(table):
    np.testing.assert_array_equal(sample_rows(MemoryRows(table, ("a", "b")), 5).table, table)


def test_parts_merged_in_any_order_give_the_rows_in_theirs():
    first, second = Gathered(((0, TABLE[:5]),)), Gathered(((5, TABLE[5:]),))
    none = Gathered(())
    for sums in (first + second, second + first, none + second + none + first):
        np.testing.assert_array_equal(sums.in_order(), TABLE)


def test_something_said_of_each_row_is_gathered():
    n_known = gathered(MemoryRows(TABLE, NAMES), lambda block: block.observed.sum(axis=1))
    np.testing.assert_array_equal(n_known, (~np.isnan(TABLE)).sum(axis=1))
