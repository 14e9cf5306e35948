"""Rows that are read again in batches on every pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from halfseen.data.arrays import Mask
from halfseen.data.engines.memory import Told, sum_over_runs
from halfseen.data.errors import DataError
from halfseen.data.rows import Block, Rows, S
from halfseen.data.sequences import Sequences

MEMORY = 256.0
"""MB that all batches in flight may take together, unless the user says otherwise."""

BYTES_AN_ENTRY = 48
"""Of a batch that is summed: as read, as floats, as doubles, and the products with its mask."""

MOST_ENTRIES = 1 << 20
"""Larger batches fall out of the cache and are slower, however much memory there is."""


def rows_a_batch(memory: float, n_columns: int, n_threads: int) -> int:
    """Rows per batch so that one per thread, one waiting and one being read fit into memory.

    >>> rows_a_batch(memory=256, n_columns=50, n_threads=2)
    20971
    >>> rows_a_batch(memory=32, n_columns=50, n_threads=2)
    3333
    """
    entries = memory * 1e6 / BYTES_AN_ENTRY / (n_threads + 2)
    return max(int(min(entries, MOST_ENTRIES)) // max(n_columns, 1), 1)


class Piece(NamedTuple):
    """Rows as they were read; they are converted to floats by the thread that sums them."""

    n_rows: int
    table: Callable[[], np.ndarray[Any, Any]]  # (n_rows, d), NaN marks the gaps


class RowReader(Protocol):
    """Where rows come from, as often as they are asked for."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, or their numbers where they have none."""

    @property
    def named(self) -> bool:
        """Whether the columns have names."""

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""


@dataclass(frozen=True, eq=False)
class BatchedRows(Rows):
    """A table of which only a few batches are in memory at any time."""

    source: RowReader
    chosen: tuple[int, ...]
    n_threads: int = 1
    advance: Told = None
    memory: float = MEMORY
    first: int = 0  # which row of a larger table is the first
    sequences: Sequences | None = None  # of all rows of that table

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.source.names[column] for column in self.chosen)

    def select(self, features: Mask) -> Self:
        return replace(self, chosen=tuple(compress(self.chosen, features.tolist())))

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        runs = zip(self._numbered(), strict=False)  # a batch is large: each is a run
        return sum_over_runs(runs, self._block, summarise, self.n_threads, self.advance)

    def blocks(self) -> Iterator[Block]:
        """The rows in order, a batch at a time."""
        return map(self._block, self._numbered())

    def _numbered(self) -> Iterator[tuple[int, Piece]]:
        """Pieces with the number of their first row; one empty piece without rows."""
        start = self.first
        n_rows = rows_a_batch(self.memory, len(self.chosen), self.n_threads)
        pieces = self.source.pieces(self.chosen, n_rows)
        if self.sequences is not None:
            self._check_longest(self.sequences)
            pieces = _whole_sequences(pieces, self.sequences, start)
        for piece in pieces:
            yield start, piece
            start += piece.n_rows
        if start == self.first:
            yield start, Piece(0, lambda: np.empty((0, len(self.chosen))))

    def _check_longest(self, sequences: Sequences) -> None:
        """Refuse sequences longer than a batch."""
        most = rows_a_batch(self.memory, len(self.source.names), self.n_threads)
        longest = int(sequences.lengths.max(initial=0))
        if longest > most:
            raise DataError(
                f"The longest sequence has {longest:,} rows, and a batch of at most "
                f"{self.memory:g} MB holds {most:,}: sequences are not cut. Give more memory, as "
                "by Files(path, memory=...), use fewer columns, or cut long sequences yourself."
            )

    def _block(self, numbered: tuple[int, Piece]) -> Block:
        start, piece = numbered
        sequence = None if self.sequences is None else self.sequences.of(start, piece.n_rows)
        return Block.from_table(piece.table(), None, start, sequence=sequence)


def _whole_sequences(pieces: Iterator[Piece], sequences: Sequences, start: int) -> Iterator[Piece]:
    """The same rows in pieces that cut no sequence, from row ``start`` on."""
    held: list[Piece] = []
    for piece in pieces:
        held.append(piece)
        stop = start + sum(one.n_rows for one in held)
        last = int(np.searchsorted(sequences.ends, stop, side="right"))
        end = int(sequences.ends[last - 1]) if last else 0
        if end <= start:
            continue
        left = stop - end
        whole, rest = [*held[:-1], _part(held[-1], 0, piece.n_rows - left)], []
        if left:
            rest = [_part(held[-1], piece.n_rows - left, piece.n_rows)]
        yield Piece(end - start, partial(_joined, whole))
        held, start = rest, end
    if held:
        yield Piece(sum(one.n_rows for one in held), partial(_joined, held))


def _part(piece: Piece, first: int, last: int) -> Piece:
    if (first, last) == (0, piece.n_rows):
        return piece
    return Piece(last - first, lambda: piece.table()[first:last])


def _joined(pieces: list[Piece]) -> np.ndarray[Any, Any]:
    tables = [piece.table() for piece in pieces]
    return tables[0] if len(tables) == 1 else np.concatenate(tables)


def all_columns(
    source: RowReader,
    n_threads: int = 1,
    advance: Told = None,
    memory: float = MEMORY,
    first: int = 0,
    sequences: Sequences | None = None,
) -> BatchedRows:
    """The rows of a source with all its columns."""
    every = tuple(range(len(source.names)))
    return BatchedRows(source, every, n_threads, advance, memory, first, sequences)
