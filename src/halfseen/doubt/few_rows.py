"""As many rows as it takes to compare models, if there are many more."""

from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.gathered import gathered, with_gaps
from halfseen.rows.rows import Block, Rows
from halfseen.rows.sampled import Drawn


class FewRows(NamedTuple):
    """Some rows of a table, and their bins."""

    rows: Rows
    bins: Bins


def few_rows(rows: Rows, bins: Bins, most: int) -> FewRows:
    """At most so many rows, drawn by lot and kept in memory, each still in the bin it was in.

    The draw depends on the rows' numbers only, and nothing on where they are kept. Sparse rows may
    be too wide to be kept filled, and stay where they are, all of them.
    """
    if rows.sparse:
        return FewRows(rows, bins)
    lot = Drawn.of(rows, most)

    def drawn(block: Block) -> Array:
        chosen = lot.within(block)
        part = block.rows(chosen)
        return np.column_stack(
            [with_gaps(part), part.weighed(np.ones(len(part))), bins.of(block)[chosen]]
        )

    table = gathered(rows, drawn)
    weights = None if (table[:, -2] == 1).all() else table[:, -2].copy()
    values = np.ascontiguousarray(table[:, :-2])
    kept = MemoryRows(values, rows.names, weights, sequences=lot.sequences)
    return FewRows(kept, Bins(bins.n, table[:, -1].astype(np.intp)))
