"""A few rows, drawn by lot from a table that need not be in memory."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.engines.sparse.compressed import Compressed
from halfseen.rows.engines.sparse.rows import SparseRows
from halfseen.rows.gathered import gathered, whole_table, with_gaps
from halfseen.rows.rows import Block, Rows
from halfseen.rows.sequences import Numbers, Sequences, drawn, lengths_of


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, and which of the table they are; sparse ones stay sparse."""

    numbers: NDArray[np.intp]  # (n,)  ascending
    rows: MemoryRows | SparseRows

    @property
    def table(self) -> Array:
        """The rows as an array (n, d), in which NaN marks the gaps."""
        return self.rows.table if isinstance(self.rows, MemoryRows) else whole_table(self.rows)

    def some(self, places: NDArray[np.intp]) -> Array:
        """Some of the rows (m, d), by their places in the sample."""
        blocks = self.rows.blocks()
        ascending: Array = np.concatenate([with_gaps(_of(block, places)) for block in blocks])
        return ascending[np.argsort(np.argsort(places, kind="stable"), kind="stable")]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Which rows of a table are drawn by lot, at most so many: whole sequences, if there are."""

    n_rows: int
    numbers: NDArray[np.intp]  # (n,)  ascending
    sequence: Numbers | None  # (n,)

    @classmethod
    def of(cls, rows: Rows, most: int) -> "Drawn":
        """By one pass. The draw depends on the number of rows, or on the sequences, only."""
        if rows.sequenced:
            every = sequence_of(rows)
            numbers = np.arange(len(every)) if len(every) <= most else drawn(every, most)
            return cls(len(every), numbers, every[numbers])
        n_rows = rows.accumulate(len)
        if n_rows <= most:
            return cls(n_rows, np.arange(n_rows), None)
        lot = np.random.default_rng(0).choice(n_rows, most, replace=False)
        return cls(n_rows, np.sort(lot), None)

    @property
    def all(self) -> bool:
        """Whether these are all rows."""
        return len(self.numbers) == self.n_rows

    @property
    def sequences(self) -> Sequences | None:
        """Of the rows that are drawn."""
        own = self.sequence
        return None if own is None else Sequences.of_lengths(lengths_of(own))

    def within(self, block: Block) -> NDArray[np.intp]:
        """Which rows of a block are drawn, by their place in it."""
        first, last = np.searchsorted(self.numbers, [block.start, block.start + len(block)])
        return np.asarray(self.numbers[first:last] - block.start)


def sequence_of(rows: Rows) -> Numbers:
    """The sequence of each row, of rows that follow each other; (n,)."""
    every: Numbers = gathered(rows, lambda block: np.asarray(block.sequence))
    return every


def sampled(rows: Rows, most: int) -> Sample:
    """At most so many rows, by two passes: one counts them, one keeps those that were drawn."""
    lot = Drawn.of(rows, most)
    if rows.sparse:
        return Sample(lot.numbers, _sparse(rows, lot))
    if lot.all:
        table = whole_table(rows)
    else:
        table = gathered(rows, lambda block: with_gaps(block.rows(lot.within(block))))
    return Sample(lot.numbers, MemoryRows(table, rows.names, sequences=lot.sequences))


def holding_at_most(rows: Rows, counts: int) -> Rows:
    """Rows by lot that hold about so many counts above zero together; all if they hold no more."""
    n_rows, stored = rows.accumulate(lambda b: np.array([len(b), len(b.nonzeros().counts)]))
    return rows if stored <= counts else sampled(rows, max(int(n_rows * counts / stored), 1)).rows


def _of(block: Block, places: NDArray[np.intp]) -> Block:
    """Those rows of a block that have such places, in their order."""
    own = np.sort(places)
    return block.rows(own[(own >= block.start) & (own < block.start + len(block))] - block.start)


def _sparse(rows: Rows, lot: Drawn) -> SparseRows:
    """The rows of a lot, of a table whose blocks hold what is stored."""

    def entries(of: str) -> Compressed:
        def listed(block: Any) -> Array:
            first = np.searchsorted(lot.numbers, block.start)
            found: Compressed = getattr(block.rows(lot.within(block)), of)
            return np.column_stack([first + found.row_numbers, found.features, found.values])

        row, feature, value = gathered(rows, listed).T
        starts = np.searchsorted(row, np.arange(len(lot.numbers) + 1))
        return Compressed(starts, feature.astype(np.intp), value)

    def has(block: Any) -> Any:
        return block.rows(lot.within(block)).row_observed

    column_block = gathered(rows, lambda block: cast("Any", block).column_block[None])[0]
    observed = gathered(rows, has)
    return SparseRows(entries("stored"), entries("gaps"), column_block, observed, rows.names)


def fewer_rows(rows: Rows, most: int) -> Rows:
    """The rows themselves or, of more than ``most``, so many of them; they count as before."""
    lot = Drawn.of(rows, most)
    if lot.all:
        return rows

    def kept(block: Block) -> Array:
        part = block.rows(lot.within(block))
        return np.column_stack([with_gaps(part), part.weighed(np.ones(len(part)))])

    table = gathered(rows, kept)
    values, weights = np.ascontiguousarray(table[:, :-1]), table[:, -1].copy()
    return MemoryRows(values, rows.names, weights, sequences=lot.sequences)
