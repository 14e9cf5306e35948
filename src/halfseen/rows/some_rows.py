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
from halfseen.rows.sequences import Numbers, Sequences, drawn, lengths_of


@dataclass(frozen=True, eq=False)
class Lot:
    """The rows with the lowest keys of all that were seen, at most so many."""

    most: int
    numbers: NDArray[np.intp]  # (n,)  of the rows, lowest keys first
    table: Array  # (n, d + 1)    NaN marks the gaps; the last column says how often each counts
    sequence: Numbers | None = None  # (n,)  drawn whole; rows are then in their order

    @classmethod
    def of(cls, most: int) -> Callable[[Block], "Lot"]:
        """The function that draws from a block, of the rows that hold something.

        In sequences all do: that there is nothing tells how long it is.
        """

        def draw(block: Block) -> Lot:
            counts = block.weighed(np.ones(len(block)))
            tells = block.observed.any(axis=1) | (block.sequence is not None)
            there = np.flatnonzero((counts > 0) & tells)
            if block.sequence is None:  # only what stays is copied
                there = there[_lowest(block.start + there, most)]
            part = block.rows(there)
            table = np.column_stack([with_gaps(part), counts[there]])
            lot = cls(most, block.start + there, table, part.sequence)
            return lot if block.sequence is None else lot._drawn()

        return draw

    def __add__(self, other: Self) -> Self:
        numbers, table = np.r_[self.numbers, other.numbers], np.vstack([self.table, other.table])
        if self.sequence is None or other.sequence is None:
            return type(self)(self.most, numbers, table)._drawn()
        sequence = np.r_[self.sequence, other.sequence]
        # Numbers ascend: which of the two comes first, engines do not promise.
        order = np.argsort(sequence, kind="stable")
        return type(self)(self.most, numbers[order], table[order], sequence[order])._drawn()

    def _drawn(self) -> Self:
        """In order, and no more than there should be."""
        if self.sequence is None:
            lowest = _lowest(self.numbers, self.most)
            return type(self)(self.most, self.numbers[lowest], self.table[lowest])
        if len(self.sequence) <= self.most:
            return self
        kept = drawn(self.sequence, self.most)
        return type(self)(self.most, self.numbers[kept], self.table[kept], self.sequence[kept])


def _lowest(numbers: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Places of the rows with the lowest keys, lowest first."""
    keys = keys_of(numbers)
    some = np.argpartition(keys, most)[:most] if len(keys) > most else np.arange(len(keys))
    return some[np.argsort(keys[some])]


def some_rows(rows: Rows, most: int) -> MemoryRows:
    """At most so many rows that hold something, as if they were shuffled; they count as before.

    Which ones, and their order, depends on their numbers only, so that every engine keeps the same.
    Of rows that follow each other they are whole sequences, one at least.
    """
    lot = rows.accumulate(Lot.of(most))
    table, sequence = lot.table, lot.sequence
    values, weights = np.ascontiguousarray(table[:, :-1]), table[:, -1]
    counts = None if (weights == 1).all() else weights
    if sequence is None:
        return MemoryRows(values, rows.names, counts)
    own = Sequences.of_lengths(lengths_of(sequence))
    return MemoryRows(values, rows.names, counts, sequences=own)
