"""Some rows of a table that need not be in memory, drawn by lot in one pass."""

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.gathered import gathered, with_gaps
from halfseen.rows.keys import keys_of, share_of_keys
from halfseen.rows.rows import Block, Rows


def some_rows(rows: Rows, n_rows: float, most: int) -> MemoryRows:
    """About ``most`` of the ``n_rows`` rows, or all if they are no more; they count as before.

    Which ones depends on their numbers only, so that every engine keeps the same.
    """
    limit = share_of_keys(most / max(n_rows, 1.0))

    def chosen(block: Block) -> Array:
        keys = keys_of(block.start + np.arange(len(block)))
        part = block.rows(np.flatnonzero(keys <= limit))
        return np.column_stack([with_gaps(part), part.weighed(np.ones(len(part)))])

    table = gathered(rows, chosen)
    filled = ~np.isnan(table[:, :-1]).all(axis=1)
    values, weights = np.ascontiguousarray(table[filled, :-1]), table[filled, -1]
    return MemoryRows(values, rows.names, None if (weights == 1).all() else weights)
