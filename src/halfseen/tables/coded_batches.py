"""Some rows of a table at a time: what is seen of them, and their floats, in which words are codes.

Sums of what is seen of all rows decide how each column is coded, so that no more than a batch has
to be in memory.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.tables.arrays_and_frames import AnyColumns, as_table
from halfseen.tables.batches import Batch
from halfseen.tables.cells.writing import Writing
from halfseen.tables.coded_tables import TableSeen, by_coding, learn_names, seen_of
from halfseen.tables.coding import Coding
from halfseen.tables.columns_in_memory import GivenTable, in_columns


@dataclass(frozen=True, eq=False)
class Unseen:
    """How many cells of each column hold words that are no labels; that of rows adds."""

    names: tuple[str, ...]
    named: bool
    counts: Array  # (d,)

    def __add__(self, other: "Unseen") -> "Unseen":
        return Unseen(self.names, self.named, self.counts + other.counts)


def look(X: Any) -> TableSeen:
    """What is seen of some rows of a table."""
    return seen_of(_table(X))


def unseen_in(coding: Coding, X: Any) -> Unseen:
    """What some rows hold that the fit did not see."""
    table = _table(X)
    counts = np.zeros(len(coding.names))
    if len(table.columns) == len(counts):  # otherwise it is refused when it is read
        counts += by_coding(table, coding, None).unseen.sum(axis=0)
    return Unseen(table.names_or_numbers, table.names is not None, counts)


def read_coded_batch(coding: Coding, writings: tuple[Writing, ...] | None, X: Any) -> Batch:
    """Some rows of a table as floats; there may be none."""
    table = _table(X)
    if len(table.columns) != len(coding.names):  # which is refused with its number
        return Batch(np.empty((table.n_rows, len(table.columns))), table.names)
    learn_names(AnyColumns(), as_table(X))
    return Batch(by_coding(table, coding, writings).values, table.names)


def _table(X: Any) -> GivenTable:
    table = in_columns(as_table(X))
    if table is None:
        raise TypeError(f"a {type(X).__name__} is not some rows of a table")
    return table
