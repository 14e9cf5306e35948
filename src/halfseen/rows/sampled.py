"""A few rows, drawn by lot from a table that need not be in memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.gathered import gathered, whole_table, with_gaps
from halfseen.rows.rows import Block, Rows


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, and which of the table they are."""

    numbers: NDArray[np.intp]  # (n,)  ascending
    rows: MemoryRows

    @property
    def table(self) -> Array:
        """The rows as an array (n, d), in which NaN marks the gaps."""
        return self.rows.table


def sampled(rows: Rows, most: int) -> Sample:
    """At most so many rows, by two passes: one counts them, one keeps those that were drawn.

    The draw depends on the number of rows only, so that every engine keeps the same ones.
    """
    n_rows = rows.accumulate(len)
    if n_rows <= most:
        return Sample(np.arange(n_rows), MemoryRows(whole_table(rows), rows.names))
    numbers = np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))

    def drawn(block: Block) -> Array:
        first, last = np.searchsorted(numbers, [block.start, block.start + len(block)])
        return with_gaps(block.rows(numbers[first:last] - block.start))

    return Sample(numbers, MemoryRows(gathered(rows, drawn), rows.names))


def fewer_rows(rows: Rows, most: int) -> Rows:
    """The rows themselves or, of more than ``most``, so many of them; they count as before."""
    n_rows = rows.accumulate(len)
    if n_rows <= most:
        return rows
    numbers = np.sort(np.random.default_rng(0).choice(n_rows, most, replace=False))

    def drawn(block: Block) -> Array:
        first, last = np.searchsorted(numbers, [block.start, block.start + len(block)])
        part = block.rows(numbers[first:last] - block.start)
        return np.column_stack([with_gaps(part), part.weighed(np.ones(len(part)))])

    table = gathered(rows, drawn)
    return MemoryRows(np.ascontiguousarray(table[:, :-1]), rows.names, table[:, -1].copy())
