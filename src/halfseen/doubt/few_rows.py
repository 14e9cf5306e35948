"""As many rows as it takes to compare models, if there are many more."""

from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.gathered import gathered, with_gaps
from halfseen.rows.rows import Block, Rows


class FewRows(NamedTuple):
    """Some rows of a table, and their bins."""

    rows: Rows
    bins: Bins


def few_rows(rows: Rows, bins: Bins, most: int) -> FewRows:
    """At most so many rows, drawn by lot and kept in memory, each still in the bin it was in.

    The draw depends on the number of rows only, and nothing on where they are kept. Sparse rows may
    be too wide to be kept filled, and stay where they are, all of them.
    """
    if rows.sparse:
        return FewRows(rows, bins)
    n_rows = rows.accumulate(len)
    every = np.arange(n_rows)
    numbers = (
        every
        if n_rows <= most
        else np.sort(np.random.default_rng(0).choice(every, most, replace=False))
    )

    def drawn(block: Block) -> Array:
        first, last = np.searchsorted(numbers, [block.start, block.start + len(block)])
        chosen = numbers[first:last] - block.start
        part = block.rows(chosen)
        return np.column_stack(
            [with_gaps(part), part.weighed(np.ones(len(part))), bins.of(block)[chosen]]
        )

    table = gathered(rows, drawn)
    weights = None if (table[:, -2] == 1).all() else table[:, -2].copy()
    kept = MemoryRows(np.ascontiguousarray(table[:, :-2]), rows.names, weights)
    return FewRows(kept, Bins(bins.n, table[:, -1].astype(np.intp)))
