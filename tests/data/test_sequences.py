"""Rows that follow each other stay together, wherever they are."""

import numpy as np
import pytest

from halfseen.data.engines.batched import all_columns
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.errors import DataError
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block
from halfseen.data.sampling import (
    sample_rows,
    sample_sequences,
    sample_shuffled,
    sample_weighted,
    sequence_of,
)
from halfseen.data.sequences import Sequences, lengths_of, part_of
from halfseen.io.batches import open_batches
from halfseen.io.dask_collections import partitions_of, rows_of_collection
from halfseen.io.validation import read_batch

LENGTHS = [3, 1, 900, 7, 2, 400, 1, 1, 685]
N = sum(LENGTHS)
SEQUENCES = Sequences.of_lengths(LENGTHS)
X = np.random.default_rng(0).normal(size=(N, 3))
X[5:9] = np.nan
NAMES = ("a", "b", "c")


def in_memory():
    return MemoryRows(X, NAMES, sequences=SEQUENCES)


def in_batches():
    parts = [X[:2], X[2:500], X[500:501], X[501:]]
    return all_columns(open_batches(parts, read_batch)).in_sequences(SEQUENCES)


def on_workers():
    import dask.array

    parts = partitions_of(dask.array.from_array(X, chunks=((904, 1096), -1)))
    return rows_of_collection(parts, NAMES, None).in_sequences(SEQUENCES)


ENGINES = {"memory": in_memory, "batches": in_batches, "workers": on_workers}


@pytest.mark.parametrize("rows", ENGINES.values(), ids=ENGINES)
def test_no_block_cuts_a_sequence(rows):
    lengths = rows().accumulate(lambda block: lengths_of(block.sequence).tolist())
    assert lengths == LENGTHS
    np.testing.assert_array_equal(sequence_of(rows()), SEQUENCES.of(0, N))


@pytest.mark.parametrize("step", [1, 2, 5, 1000, 10_000])
def test_parts_are_whole_sequences_of_about_the_size_that_is_asked_for(step):
    parts = SEQUENCES.cut(0, N, step)
    assert [p.start for p in parts] == [0, *(p.stop for p in parts[:-1])]
    assert parts[-1].stop == N
    assert {p.stop for p in parts} <= set(SEQUENCES.ends.tolist())


def test_a_sequence_is_known_by_its_first_row_and_cut_where_rows_are_left_out():
    sequence = np.array([0, 0, 0, 3, 4, 4, 4])
    np.testing.assert_array_equal(part_of(sequence, np.array([0, 2, 3, 4, 5])), [0, 2, 3, 4, 4])
    np.testing.assert_array_equal(part_of(sequence, np.array([1, 2, 5, 6])), [1, 1, 5, 5])
    assert part_of(None, np.array([1])) is None
    assert len(part_of(sequence, np.array([], dtype=int))) == 0


def test_blocks_keep_the_sequences_of_their_rows():
    block = Block.from_table(X[:6], None, 0, None, SEQUENCES.of(0, 6))
    for same in (
        block.select(np.array([True, False, True])),
        block.recentred(np.ones(3)),
        block.clipped(np.full(3, -1.0), np.ones(3)),
        block.emptied(np.ones(6, bool)),
        block.with_weights(np.ones(6)),
        block.without(np.array([0]), np.array([1])),
    ):
        np.testing.assert_array_equal(same.sequence, block.sequence)
    weighed = Block.from_table(X[:6], np.array([1.0, 1, 0, 1, 1, 1]), 0, None, block.sequence)
    np.testing.assert_array_equal(weighed.sequence, [0, 0, 3, 4, 4])


def test_what_is_drawn_by_lot_is_drawn_whole():
    for some in (sample_shuffled(in_memory(), 950), sample_rows(in_memory(), 950).rows):
        assert len(some.table) <= 950
        assert set(some.sequences.lengths.tolist()) <= set(LENGTHS)
    few = sample_weighted(in_memory(), 950)
    assert set(lengths_of(sequence_of(few)).tolist()) <= set(LENGTHS)
    assert sample_weighted(in_memory(), N) is not few
    assert len(sample_sequences(SEQUENCES.of(0, N), 1)) >= 1  # one at least


@pytest.mark.parametrize("rows", ENGINES.values(), ids=ENGINES)
def test_every_engine_draws_the_same_rows_with_empty_ones_among_them(rows):
    ours, theirs = sample_shuffled(in_memory(), 1500), sample_shuffled(rows(), 1500)
    np.testing.assert_array_equal(ours.table, theirs.table)
    np.testing.assert_array_equal(ours.sequences.ends, theirs.sequences.ends)
    assert np.isnan(sample_shuffled(in_memory(), N).table).all(axis=1).sum() == 4


def test_bins_hold_whole_sequences_or_runs_of_few_long_ones():
    many = np.repeat(np.arange(30) * 5, 5)
    bins = Bins.of_sequences(many)
    assert bins.n == 30
    assert all(len(set(bins.labels[many == s])) == 1 for s in np.unique(many))
    one = Bins.of_sequences(np.zeros(1000, dtype=np.int64))
    assert one.n == 100
    assert (np.bincount(one.labels) == 10).all()


def test_half_of_the_bins_are_pieces_that_do_not_touch():
    rows = MemoryRows(X[:40], NAMES, sequences=Sequences.of_lengths([40]))
    bins = Bins.of_sequences(sequence_of(rows))
    half = reweighted(rows, bins, (np.arange(bins.n) % 2).astype(float))
    found = half.accumulate(lambda block: block.sequence.tolist())
    assert found == [10] * 10 + [30] * 10


def test_sequences_that_do_not_fit_into_a_batch_are_refused_with_the_remedy():
    rows = all_columns(open_batches([X], read_batch), memory=0.1).in_sequences(SEQUENCES)
    with pytest.raises(DataError, match=r"longest sequence has 900 rows.*Give more memory"):
        rows.accumulate(len)


def test_partitions_that_cut_a_sequence_are_refused_with_the_remedy():
    import dask.array

    parts = partitions_of(dask.array.from_array(X, chunks=(1000, -1)))
    rows = rows_of_collection(parts, NAMES, None)
    with pytest.raises(DataError, match=r"Partition 0 ends at row 1,000, within.*whole sequences"):
        rows.in_sequences(SEQUENCES)
