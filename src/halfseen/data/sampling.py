"""A few rows, drawn by lot from a table that need not be in memory."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.precomputed import SummedRows
from halfseen.data.engines.sparse.compressed import Compressed
from halfseen.data.engines.sparse.rows import SparseRows
from halfseen.data.resampling import Keys, keys_of, share_of_keys
from halfseen.data.rows import Block, Rows, gathered, whole_table, with_gaps
from halfseen.data.sequences import Numbers, Sequences, lengths_of
from halfseen.data.sums import JOINED, Sums


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


def drawn(sequence: Numbers, most: int) -> NDArray[np.intp]:
    """Whole sequences drawn by lot, at most so many rows but at least one: their rows, in order."""
    lengths = lengths_of(sequence)
    begins = np.cumsum(lengths) - lengths
    lot = np.argsort(keys_of(sequence[begins]), kind="stable")
    n = max(int(np.searchsorted(np.cumsum(lengths[lot]), most, side="right")), 1)
    kept = np.sort(lot[:n])
    return np.concatenate([np.arange(begins[s], begins[s] + lengths[s]) for s in kept])


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


@dataclass(frozen=True, eq=False)
class ColumnSamples(Sums):
    """Observed values of rows whose keys are low, each with the feature it is of.

    Which rows these are depends on their numbers alone, so that blocks merge to the same sample
    whatever way rows are split.
    """

    feature: NDArray[np.intp] = field(metadata=JOINED)  # (s,)
    value: Array = field(metadata=JOINED)  # (s,)
    weight: Array = field(metadata=JOINED)  # (s,)  how often the row counts

    @classmethod
    def below(cls, limit: Keys) -> Callable[[Block], "ColumnSamples"]:
        """The function that samples a block: of feature d rows with keys up to ``limit`` (d,)."""

        def summarise(block: Block) -> ColumnSamples:
            keys = keys_of(block.start + np.arange(len(block)))
            some = np.flatnonzero(keys <= limit.max(initial=0))
            part = block.rows(some) if len(some) < len(block) else block
            row, feature = np.nonzero(part.observed & (keys[some, None] <= limit))
            weight = part.weighed(np.ones(len(some)))[row]
            return cls(feature, part.values[row, feature], weight)

        return summarise

    def sorted(self, n_features: int) -> list[tuple[Array, Array]]:
        """Of each feature the sampled values, ascending, and their weights."""
        # Small integers are put in order by counting them, and values that weigh the same by
        # themselves: together several times as fast as all three at once.
        small = self.feature.astype(np.min_scalar_type(n_features))
        order = np.argsort(small, kind="stable")
        ends = np.searchsorted(small[order], np.arange(n_features + 1))
        value, weight = self.value[order], self.weight[order]
        return [_ascending(value[start:end], weight[start:end]) for start, end in pairwise(ends)]


def _ascending(value: Array, weight: Array) -> tuple[Array, Array]:
    if (weight == weight[:1]).all():
        return np.sort(value), weight
    order = np.lexsort((weight, value))
    return value[order], weight[order]


def column_samples(rows: Rows, count: Array, most: int) -> ColumnSamples:
    """About ``most`` values of each feature, or all if it has no more.

    ``count`` (d,) is how many it has, by weight.
    """
    if isinstance(rows, SummedRows) and rows.stand_in is not None:
        rows = rows.stand_in  # no value of theirs may be looked at
    if (count > most).any():  # a row that counts a thousand times is one row to draw from
        count = rows.accumulate(lambda block: block.presence().back(np.ones((len(block), 1)))[:, 0])
    limit = share_of_keys(most / np.maximum(count, 1.0))
    return rows.accumulate(ColumnSamples.below(limit))
