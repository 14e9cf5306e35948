"""Samples of rows from tables that need not fit into memory.

Which rows are sampled depends on their numbers alone, never on the engine that holds them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.precomputed import SummedRows
from halfseen.data.engines.sparse_products import row_numbers
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.resampling import Bins, Keys, keys_of, share_of_keys
from halfseen.data.rows import Block, Rows, gathered, whole_table, with_gaps
from halfseen.data.sequences import Numbers, Sequences, lengths_of
from halfseen.data.sums import JOINED, Sums


@dataclass(frozen=True, eq=False)
class Sample:
    """Sampled rows and their positions in the table; sparse rows stay sparse."""

    numbers: NDArray[np.intp]  # (n,)  ascending
    rows: MemoryRows | SparseRows

    @property
    def table(self) -> Array:
        """The rows as an array (n, d), in which NaN marks the gaps."""
        return self.rows.table if isinstance(self.rows, MemoryRows) else whole_table(self.rows)

    def some(self, places: NDArray[np.intp]) -> Array:
        """Some of the sampled rows (m, d), by position in the sample."""
        blocks = self.rows.blocks()
        ascending: Array = np.concatenate([with_gaps(_of(block, places)) for block in blocks])
        return ascending[np.argsort(np.argsort(places, kind="stable"), kind="stable")]


def _of(block: Block, places: NDArray[np.intp]) -> Block:
    """The rows of a block at given positions."""
    own = np.sort(places)
    return block.rows(own[(own >= block.start) & (own < block.start + len(block))] - block.start)


@dataclass(frozen=True, eq=False)
class _Chosen:
    n_rows: int
    numbers: NDArray[np.intp]  # (n,)  ascending
    sequence: Numbers | None  # (n,)

    @classmethod
    def of(cls, rows: Rows, most: int) -> Self:
        """Choose rows in one pass, from the number of rows or the sequences only."""
        if rows.sequenced:
            every = sequence_of(rows)
            numbers = np.arange(len(every)) if len(every) <= most else sample_sequences(every, most)
            return cls(len(every), numbers, every[numbers])
        n_rows = rows.accumulate(len)
        if n_rows <= most:
            return cls(n_rows, np.arange(n_rows), None)
        some = np.random.default_rng(0).choice(n_rows, most, replace=False)
        return cls(n_rows, np.sort(some), None)

    @property
    def all(self) -> bool:
        return len(self.numbers) == self.n_rows

    @property
    def sequences(self) -> Sequences | None:
        return None if self.sequence is None else Sequences.of_lengths(lengths_of(self.sequence))

    def within(self, block: Block) -> NDArray[np.intp]:
        first, last = np.searchsorted(self.numbers, [block.start, block.start + len(block)])
        return np.asarray(self.numbers[first:last] - block.start)

    def in_memory(
        self, rows: Rows, beside: Callable[[Block], NDArray[Any]] | None = None
    ) -> tuple[MemoryRows, Array]:
        """The chosen rows with weights that preserve totals, and values ``beside`` each (n, b)."""

        def kept(block: Block) -> Array:
            chosen = self.within(block)
            part = block.rows(chosen)
            more = np.empty((len(chosen), 0)) if beside is None else beside(block)[chosen, None]
            return np.column_stack([with_gaps(part), part.row_weights(), more])

        table, d = gathered(rows, kept), len(rows.names)
        values, weights = np.ascontiguousarray(table[:, :d]), table[:, d].copy()
        counts = None if (weights == 1).all() else weights
        return MemoryRows(values, rows.names, counts, sequences=self.sequences), table[:, d + 1 :]


def sample_sequences(sequence: Numbers, most: int) -> NDArray[np.intp]:
    """Whole sequences chosen at random, of about ``most`` rows, at least one sequence.

    ``sequence`` (n,) is that of each row.
    """
    lengths = lengths_of(sequence)
    begins = np.cumsum(lengths) - lengths
    by_key = np.argsort(keys_of(sequence[begins]), kind="stable")
    n = max(int(np.searchsorted(np.cumsum(lengths[by_key]), most, side="right")), 1)
    kept = np.sort(by_key[:n])
    return np.concatenate([np.arange(begins[s], begins[s] + lengths[s]) for s in kept])


def sequence_of(rows: Rows) -> Numbers:
    """The sequence of each row; (n,)."""
    every: Numbers = gathered(rows, lambda block: np.asarray(block.sequence))
    return every


def sample_rows(rows: Rows, most: int) -> Sample:
    """At most that many rows, by two passes: one counts, one keeps."""
    chosen = _Chosen.of(rows, most)
    if rows.sparse:
        return Sample(chosen.numbers, _sparse(rows, chosen))
    if chosen.all:
        table = whole_table(rows)
    else:
        table = gathered(rows, lambda block: with_gaps(block.rows(chosen.within(block))))
    return Sample(chosen.numbers, MemoryRows(table, rows.names, sequences=chosen.sequences))


def sample_weighted(rows: Rows, most: int) -> Rows:
    """All rows, or a sample of ``most`` rows weighted to the same total."""
    chosen = _Chosen.of(rows, most)
    return rows if chosen.all else chosen.in_memory(rows)[0]


class BinnedSample(NamedTuple):
    """Sampled rows and their bins."""

    rows: Rows
    bins: Bins


def sample_binned(rows: Rows, bins: Bins, most: int) -> BinnedSample:
    """A sample in memory that keeps the bin of each row.

    Sparse rows may be too wide to be kept filled, and stay where they are, all of them.
    """
    if rows.sparse:
        return BinnedSample(rows, bins)
    kept, labels = _Chosen.of(rows, most).in_memory(rows, bins.of)
    return BinnedSample(kept, Bins(bins.n, labels[:, 0].astype(np.intp)))


def sample_counts(rows: Rows, most: int) -> Rows:
    """A sample of rows with about ``most`` positive counts in total."""
    n_rows, stored = rows.accumulate(lambda b: np.array([len(b), len(b.nonzeros().counts)]))
    return rows if stored <= most else sample_rows(rows, max(int(n_rows * most / stored), 1)).rows


def _sparse(rows: Rows, chosen: _Chosen) -> SparseRows:
    """The chosen rows of a table whose blocks hold what is stored."""
    shape = (len(chosen.numbers), len(rows.names))

    def entries(of: str) -> csr_array:
        def listed(block: Any) -> Array:
            first = np.searchsorted(chosen.numbers, block.start)
            found: csr_array = getattr(block.rows(chosen.within(block)), of)
            return np.column_stack([first + row_numbers(found), found.indices, found.data])

        row, feature, value = gathered(rows, listed).T
        starts = np.searchsorted(row, np.arange(shape[0] + 1))
        return csr_array((value, feature.astype(np.intp), starts), shape=shape)

    def has(block: Any) -> Any:
        return block.rows(chosen.within(block)).row_observed

    column_block = gathered(rows, lambda block: cast("Any", block).column_block[None])[0]
    observed = gathered(rows, has)
    return SparseRows(entries("stored"), entries("gaps"), column_block, observed, rows.names)


@dataclass(frozen=True, eq=False)
class LowestKeys(Sums):
    """A mergeable sample: the rows with the lowest random keys."""

    most: int
    numbers: NDArray[np.intp]  # (n,)  of the rows, lowest keys first
    table: Array  # (n, d + 1)    NaN marks the gaps; the last column says how often each counts
    sequence: Numbers | None = None  # (n,)  drawn whole; rows are then in their order

    @classmethod
    def of(cls, most: int) -> Callable[[Block], "LowestKeys"]:
        """A summarise function that samples the non-empty rows of a block.

        In sequences all do: that there is nothing tells how long it is.
        """

        def draw(block: Block) -> LowestKeys:
            counts = block.row_weights()
            tells = block.observed.any(axis=1) | (block.sequence is not None)
            there = np.flatnonzero((counts > 0) & tells)
            if block.sequence is None:  # only what stays is copied
                there = there[_lowest(block.start + there, most)]
            part = block.rows(there)
            table = np.column_stack([with_gaps(part), counts[there]])
            found = cls(most, block.start + there, table, part.sequence)
            return found if block.sequence is None else found._cut()

        return draw

    def __add__(self, other: Self) -> Self:
        numbers, table = np.r_[self.numbers, other.numbers], np.vstack([self.table, other.table])
        if self.sequence is None or other.sequence is None:
            return type(self)(self.most, numbers, table)._cut()
        sequence = np.r_[self.sequence, other.sequence]
        # Numbers ascend: which of the two comes first, engines do not promise.
        order = np.argsort(sequence, kind="stable")
        return type(self)(self.most, numbers[order], table[order], sequence[order])._cut()

    def _cut(self) -> Self:
        """At most so many rows, those with the lowest keys first."""
        if self.sequence is None:
            lowest = _lowest(self.numbers, self.most)
            return type(self)(self.most, self.numbers[lowest], self.table[lowest])
        if len(self.sequence) <= self.most:
            return self
        kept = sample_sequences(self.sequence, self.most)
        return type(self)(self.most, self.numbers[kept], self.table[kept], self.sequence[kept])


def _lowest(numbers: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Places of the rows with the lowest keys, lowest first."""
    keys = keys_of(numbers)
    some = np.argpartition(keys, most)[:most] if len(keys) > most else np.arange(len(keys))
    return some[np.argsort(keys[some])]


def sample_shuffled(rows: Rows, most: int) -> MemoryRows:
    """At most so many rows that hold something, as if they were shuffled; they count as before.

    Which ones, and their order, depends on their numbers only, so that every engine keeps the same.
    Of rows that follow each other they are whole sequences, one at least.
    """
    found = rows.accumulate(LowestKeys.of(most))
    values, weights = np.ascontiguousarray(found.table[:, :-1]), found.table[:, -1]
    counts = None if (weights == 1).all() else weights
    own = None if found.sequence is None else Sequences.of_lengths(lengths_of(found.sequence))
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
            weight = part.row_weights()[row]
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


def sample_columns(rows: Rows, count: Array, most: int) -> ColumnSamples:
    """About ``most`` values of each feature, or all if it has no more.

    ``count`` (d,) is how many it has, by weight.
    """
    if isinstance(rows, SummedRows) and rows.stand_in is not None:
        rows = rows.stand_in  # no value of theirs may be looked at
    if (count > most).any():  # a row that counts a thousand times is one row to draw from
        count = rows.accumulate(lambda block: block.presence().back(np.ones((len(block), 1)))[:, 0])
    limit = share_of_keys(most / np.maximum(count, 1.0))
    return rows.accumulate(ColumnSamples.below(limit))
