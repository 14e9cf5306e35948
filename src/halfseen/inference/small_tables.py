"""Small tables in memory, in their canonical order."""

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.canonical_order import CanonicalOrder, canonical_order
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Rows
from halfseen.data.sampling import sample_shuffled
from halfseen.inference.multi_start import MANY_ROWS
from halfseen.moments.survey import Survey

MOST_CELLS = 5_000_000
"""Of tables that are held in memory while starts are tried."""
MOST_FILLED = 100_000
"""The same of sparse tables, which are filled in: that costs nothing if they are small."""

MOST_EMPTY = 4
"""Rows, those that hold nothing among them, beside those that hold something at most."""
MOST_COLUMNS = 100
"""Of sparse tables that are: wider ones are spared the triples of their columns."""


def load_small_table(rows: Rows, kept: Survey) -> Rows:
    """Load a small table into memory, because multi-start EM makes many passes over it.

    Equal rows become one that counts more often, and rows get a canonical order. How a table is
    sorted, and whether its rows are weighted or repeated, then changes no bit of what is learned;
    how its columns are sorted changes sums by rounding only, and never the starts.
    """
    if rows.sequenced:
        return _load_small_sequences(rows, kept)
    every = _few(rows, kept)
    if every is None:
        return rows
    table, counts, own = every
    _, first, which = np.unique(own.sortable(table), axis=0, return_index=True, return_inverse=True)
    times: Array = np.zeros(len(first))
    ascending = np.argsort(counts, kind="stable")  # sums to the last bit, in whatever order
    np.add.at(times, which.reshape(-1)[ascending], counts[ascending])
    order = _shuffled(len(first))
    return _in_memory(table[first[order]], times[order], rows.names)


def in_canonical_order(rows: Rows, seen: Survey) -> Rows:
    """Bring a small table to canonical order, for samples of rows; equal rows stay apart."""
    every = None if rows.sequenced else _few(rows, seen)
    if every is None:
        return rows
    table, counts, own = every
    ascending = np.lexsort([counts, *own.sortable(table)[:, ::-1].T])
    order = ascending[_shuffled(len(table))]
    return _in_memory(table[order], counts[order], rows.names)


def _load_small_sequences(rows: Rows, kept: Survey) -> Rows:
    if kept.sums.n_rows > MANY_ROWS or kept.sums.n_rows * len(kept.names) > MOST_CELLS:
        return rows
    few = sample_shuffled(rows, MOST_EMPTY * MANY_ROWS)
    return few if len(few.table) < MOST_EMPTY * MANY_ROWS else rows


def _few(rows: Rows, seen: Survey) -> tuple[Array, Array, CanonicalOrder] | None:
    """All rows (n, d) with NaN in the gaps, how often each counts (n,), and their canonical order.

    None if they are many.
    """
    n_rows, n_cells = seen.sums.n_rows, seen.sums.n_rows * len(seen.names)
    if n_rows > MANY_ROWS or n_cells > (MOST_FILLED if rows.sparse else MOST_CELLS):
        return None
    if rows.sparse and len(seen.names) > MOST_COLUMNS:
        return None
    every = sample_shuffled(rows, MANY_ROWS + 1)
    if len(every.table) > MANY_ROWS:  # which count for less than one each
        return None
    counts = np.ones(len(every.table)) if every.weights is None else every.weights
    return every.table, counts, canonical_order(every.table)


def _shuffled(n: int) -> NDArray[np.intp]:
    return np.random.default_rng(0).permutation(n)


def _in_memory(table: Array, counts: Array, names: tuple[str, ...]) -> MemoryRows:
    return MemoryRows(np.ascontiguousarray(table), names, None if (counts == 1).all() else counts)
