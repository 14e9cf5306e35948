"""Tables whose rows are of the same people: rows with the same key are one row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.engines.batched import Piece
from halfseen.rows.errors import DataError, TablesWarning, warn
from halfseen.rows.naming import quoted
from halfseen.tables.file_source import ROWS_A_BATCH, FilePart, FileSource, Span
from halfseen.tables.studies import Studies

ALIKE = 1e-9
"""Of a value: cells that differ by less are the same, written with other digits."""


@dataclass(frozen=True, eq=False)
class JoinedSource(FileSource):
    """The rows of several tables, joined by a key; those of the same tables lie together."""

    place: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Which row of the joined table each row of the tables, one after another, is part of."""
    members: tuple[tuple[str, int, tuple[bool, ...]], ...] = ()
    """What rows of the same tables are called, how many there are, and which tables they are in."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(n for _, n, _ in self.members)

    @cached_property
    def table_lengths(self) -> tuple[int, ...]:
        """How many rows are in the same tables."""
        return tuple(n for _, n, _ in self.members)

    @property
    def table_names(self) -> tuple[str, ...]:
        """What rows of the same tables are called."""
        return tuple(name for name, _, _ in self.members)

    @property
    def table_holds(self) -> Mask:
        """Which columns rows of the same tables have; (t, d)."""
        own = super().table_holds
        return np.array([own[np.array(tables)].any(axis=0) for _, _, tables in self.members])

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""
        table = self._table(chosen)
        for start in range(0, len(table), n_rows):
            part = table[start : start + n_rows]
            yield Piece(len(part), partial(np.asarray, part))

    def _table(self, chosen: tuple[int, ...]) -> Array:
        table, start = np.full((self.n_rows, len(chosen)), np.nan), 0
        for piece in super().pieces(chosen, ROWS_A_BATCH):
            rows, values = self.place[start : start + piece.n_rows], piece.table()
            table[rows] = np.where(np.isnan(table[rows]), values, table[rows])
            start += piece.n_rows
        return table

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """The rows with any columns as they are, numbers or not, in Arrow's record batches."""
        import pyarrow as pa

        cells: dict[str, list[Any]] = {name: [None] * self.n_rows for name in names}
        start = 0
        for batch in super().batches(names, ROWS_A_BATCH):
            rows = self.place[start : start + batch.num_rows].tolist()
            for name, own in cells.items():
                for row, value in zip(rows, batch.column(name).to_pylist(), strict=True):
                    own[row] = value if own[row] is None else own[row]
            start += batch.num_rows
        yield from pa.table(cells).to_batches(n_rows)

    def parts(self) -> list[FilePart]:
        """Rows that may be in several tables are not read on their own."""
        raise DataError(
            "Rows are joined in memory, not by workers. Leave out on=, --cluster and --workers, or "
            "join the tables first."
        )


def joined(studies: Studies, source: FileSource) -> JoinedSource:
    """The tables of a source with rows of the same key as one."""
    key = str(studies.on)
    _check(studies, source, key)
    labels = [_labels(source, span, key) for span in source.tables]
    numbers = _as_numbers(labels)
    place, members = _arranged(numbers, tuple(span.name for span in source.tables))
    own = {one.name: getattr(source, one.name) for one in fields(FileSource)}
    found = JoinedSource(**own, place=place, members=members)
    if studies.kept is None:
        _tell_of_conflicts(found, source)
    return found


def _check(studies: Studies, source: FileSource, key: str) -> None:
    if studies.adjust is not None:
        raise ValueError(
            "adjust compares rows of different people, and on joins those of the same. Leave out "
            "one of them."
        )
    lacking = [
        span.name for span in source.tables if key not in source.files[span.first].header.names
    ]
    if lacking:
        raise DataError(
            f"{quoted(lacking, range(len(lacking)))} has no column '{key}', by which rows are to "
            "be joined. Rename the column that says who a row is of."
        )
    n_rows = sum(source.table_lengths)
    if 8e-6 * n_rows * len(source.names) > studies.memory:
        raise DataError(
            f"Rows are joined in memory, and the tables have {n_rows:,} rows, more than "
            f"{studies.memory:g} MB. Join them with a database first."
        )


def _labels(source: FileSource, span: Span, key: str) -> list[str | None]:
    files = source.files[span.first : span.last]
    found = [
        value
        for file in files
        for batch in file.batches([key], ROWS_A_BATCH)
        for value in batch.column(0).to_pylist()
    ]
    words = [_word(value) for value in found]
    known = [word for word in words if word is not None]
    n_twice = len(known) - len(set(known))
    if n_twice:
        raise DataError(
            f"'{key}' has the same value in several rows of {span.name} ({n_twice:,} rows too "
            "many): a key names one row of each table. Use another column, or make one row of "
            "those of the same key first."
        )
    return words


def _word(value: Any) -> str | None:
    """A key as text, however its table stores it.

    >>> _word(7.0), _word(" 7 "), _word("A-7"), _word(None)
    ('7', '7', 'A-7', None)
    """
    if value is None or value != value:
        return None
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return str(value).strip() or None


def _as_numbers(tables: list[list[str | None]]) -> list[NDArray[np.intp]]:
    """Who each row is of, by number; rows without a key are of nobody else."""
    known: dict[str, int] = {}
    nobody = iter(range(-1, -1 - sum(map(len, tables)), -1))

    def number(word: str | None) -> int:
        return next(nobody) if word is None else known.setdefault(word, len(known))

    return [np.array(list(map(number, words)), dtype=np.intp) for words in tables]


def _arranged(
    tables: list[NDArray[np.intp]], names: tuple[str, ...]
) -> tuple[NDArray[np.intp], tuple[tuple[str, int, tuple[bool, ...]], ...]]:
    """Where rows go, so that those that are in the same tables lie together, in their order."""
    every = np.concatenate(tables)
    _, first, which = np.unique(every, return_index=True, return_inverse=True)
    holds = np.zeros((len(first), len(tables)), dtype=bool)
    ends = np.cumsum([len(one) for one in tables])
    holds[which, np.searchsorted(ends, np.arange(len(every)), side="right")] = True
    patterns, kind = np.unique(~holds, axis=0, return_inverse=True)  # those of most tables first
    order = np.lexsort([first, kind.reshape(-1)])
    place = np.empty(len(first), dtype=np.intp)
    place[order] = np.arange(len(first))
    counts = np.bincount(kind.reshape(-1), minlength=len(patterns))
    members = tuple(
        (_called(names, ~absent), int(n), tuple((~absent).tolist()))
        for absent, n in zip(patterns, counts, strict=True)
    )
    return place[which], members


def _called(names: tuple[str, ...], holds: Mask) -> str:
    own = [name for name, there in zip(names, holds, strict=True) if there]
    return own[0] if len(own) == 1 else " + ".join(own)


def _tell_of_conflicts(found: JoinedSource, source: FileSource) -> None:
    """Say in which columns tables say different things of the same people."""
    every = tuple(range(len(source.names)))
    table, start = found._table(every), 0
    differ = np.zeros(len(every))
    for piece in source.pieces(every, ROWS_A_BATCH):
        values, kept = piece.table(), table[found.place[start : start + piece.n_rows]]
        apart = np.abs(values - kept) > ALIKE * np.maximum(np.abs(kept), 1.0)
        differ += apart.sum(axis=0)
        start += piece.n_rows
    places = np.flatnonzero(differ)
    if len(places):
        warn(
            f"Tables say different things of the same rows in {quoted(source.names, places)} "
            f"({int(differ.sum()):,} cells): those of the first table were kept. Rename columns "
            "that are not the same, or check the key.",
            TablesWarning,
        )
