"""The rows of a small table in memory, in an order that is their own."""

import numpy as np

from halfseen.method.starts import MANY_ROWS
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.own_order import own_order
from halfseen.rows.rows import Rows
from halfseen.rows.some_rows import some_rows

MOST_CELLS = 5_000_000
"""Of tables that are held in memory while starts are tried."""


def at_hand(rows: Rows, kept: Survey) -> Rows:
    """The rows in memory, wherever they are, if they are few: starts go over them many times.

    Rows that are the same are one that counts more often, and their order is their own. How the
    rows of a table are sorted, and whether they are weighted or repeated, then changes no bit of
    what is learned; how its columns are sorted changes sums by rounding only, and never the starts.
    """
    n_rows, width = kept.sums.n_rows, len(kept.names)
    if rows.sparse or n_rows > MANY_ROWS or n_rows * width > MOST_CELLS:
        return rows
    every = some_rows(rows, MANY_ROWS)
    counts = np.ones(len(every.table)) if every.weights is None else every.weights
    if abs(counts.sum() - n_rows) > 1e-6 * n_rows:
        return rows
    own = own_order(every.table)
    known = np.where(np.isnan(every.table), np.inf, every.table)[:, own]
    different, which = np.unique(known, axis=0, return_inverse=True)
    times: Array = np.zeros(len(different))
    np.add.at(times, which.reshape(-1), counts)
    order = np.random.default_rng(0).permutation(len(different))
    table = np.where(np.isinf(different), np.nan, different)[order][:, np.argsort(own)]
    weights = None if (times == 1).all() else times[order]
    return MemoryRows(np.ascontiguousarray(table), rows.names, weights)
