"""Some rows of a table that need not be in memory, drawn by lot in one pass."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.gathered import with_gaps
from halfseen.rows.keys import keys_of
from halfseen.rows.rows import Block, Rows


@dataclass(frozen=True, eq=False)
class Lot:
    """The rows with the lowest keys of all that were seen, at most so many."""

    most: int
    numbers: NDArray[np.intp]  # (n,)  of the rows, lowest keys first
    table: Array  # (n, d + 1)    NaN marks the gaps; the last column says how often each counts

    @classmethod
    def of(cls, most: int) -> Callable[[Block], "Lot"]:
        """The function that draws from a block, of the rows that hold something."""

        def draw(block: Block) -> Lot:
            counts = block.weighed(np.ones(len(block)))
            there = np.flatnonzero((counts > 0) & block.observed.any(axis=1))
            table = np.column_stack([with_gaps(block.rows(there)), counts[there]])
            return cls(most, block.start + there, table)._drawn()

        return draw

    def __add__(self, other: Self) -> Self:
        numbers = np.concatenate([self.numbers, other.numbers])
        return type(self)(self.most, numbers, np.vstack([self.table, other.table]))._drawn()

    def _drawn(self) -> Self:
        """In order, and no more than there should be."""
        lowest = np.argsort(keys_of(self.numbers))[: self.most]
        return type(self)(self.most, self.numbers[lowest], self.table[lowest])


def some_rows(rows: Rows, most: int) -> MemoryRows:
    """At most so many rows that hold something, as if they were shuffled; they count as before.

    Which ones, and their order, depends on their numbers only, so that every engine keeps the same.
    """
    table = rows.accumulate(Lot.of(most)).table
    values, weights = np.ascontiguousarray(table[:, :-1]), table[:, -1]
    return MemoryRows(values, rows.names, None if (weights == 1).all() else weights)
