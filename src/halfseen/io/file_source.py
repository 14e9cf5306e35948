"""The rows of files, one file after another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.coding import UNSEEN_CODE, Coding
from halfseen.io.columns import Column
from halfseen.io.formats.csv_dialect import encoding_message
from halfseen.io.formats.format import ColumnFormat, Format, Header, ReadPlan, codes_of

ROWS_A_BATCH = 1 << 14

FileStamp = tuple[int, int]
"""Size and time of change of a file: another one means another content."""


class Affine(NamedTuple):
    """A change of units: times ``factor``, plus ``shift``."""

    factor: float = 1.0
    shift: float = 0.0


class TableSpan(NamedTuple):
    """One of several tables: its name and its files."""

    name: str
    first: int
    last: int  # the first that is not


class TableFile(NamedTuple):
    """One file of a table, or a table in memory."""

    path: Path
    stamp: FileStamp | None  # None if it is in memory
    header: Header
    format: Format
    n_rows: int | None = None  # None if only reading tells
    gaps: MissingCodes = MissingCodes()  # what stands for a gap in it
    written: Mapping[str, ColumnFormat] = MappingProxyType(
        {}
    )  # how each column that is read is written
    moved: Mapping[str, Affine] = MappingProxyType({})  # columns in another unit, by name

    def pieces(self, names: Sequence[str], n_rows: int) -> Iterator[Piece]:
        """All rows with columns ``names``; missing columns are gaps."""
        there = [place for place, name in enumerate(names) if name in self.written]
        stored = {field.name: field.stored for field in self.header.fields}
        written = [self.written[names[i]]._replace(stored=stored[names[i]]) for i in there]
        if not there:  # some column has to be read, so that the rows are counted
            written = [ColumnFormat(self.header.fields[0].stored, as_they_stand=False, labels=())]
        read = self.format.pieces(self.path, ReadPlan(tuple(written), self.gaps), n_rows)
        found = map(_filling([one.absent_as_zero for one in written]), read)
        if len(there) == len(names) and not any(name in self.moved for name in names):
            return found
        one = np.array([self.moved.get(names[place], Affine()) for place in there])
        wide = partial(_widened, np.array(there, dtype=int), one.reshape(-1, 2), len(names))
        return (Piece(piece.n_rows, partial(wide, piece)) for piece in found)

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """All rows as Arrow record batches, null in missing columns."""
        stored = {field.name: field.stored for field in self.header.fields}
        there = [name for name in names if name in stored]
        read = there or [self.header.names[0]]
        places = tuple(stored[name] for name in read)
        for batch in self.format.batches(self.path, places, n_rows):
            own = {name: batch.column(stored[name]) for name in there}
            cells = [own[name] if name in own else pa.nulls(batch.num_rows) for name in names]
            yield pa.record_batch(cells, names=list(names))


def _widened(
    places: np.ndarray[Any, Any], moved: Array, width: int, piece: Piece
) -> np.ndarray[Any, Any]:
    """Rows of a piece placed into ``width`` columns, gaps elsewhere."""
    table = np.full((piece.n_rows, width), np.nan)
    if len(places):
        table[:, places] = piece.table() * moved[:, 0] + moved[:, 1]
    return table


@dataclass(frozen=True, eq=False)
class FileSource:
    """The rows of several files, with columns found by name.

    Files of several tables may be of several formats and lack columns, which are gaps then.
    """

    files: tuple[TableFile, ...]
    names: tuple[str, ...]
    named: bool
    gaps: MissingCodes
    columns: tuple[Column, ...] = ()  # what became of all that were looked at
    coding: Coding | None = None  # how columns become numbers, if they may be of words
    maybe_new: tuple[str, ...] = ()  # columns in which there may be words that are no labels
    tables: tuple[
        TableSpan, ...
    ] = ()  # which files are of which table, if there are several tables

    @property
    def all_names(self) -> tuple[str, ...]:
        """All columns of the files, read or not."""
        return tuple(dict.fromkeys(name for file in self.files for name in file.header.names))

    @property
    def notes(self) -> list[str]:
        """Notes on the files."""
        encodings = (encoding_message(file.path.name, file.header.encoding) for file in self.files)
        found = [sentence for sentence in encodings if sentence is not None]
        return [*found, *(note for file in self.files for note in file.header.notes)]

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known without reading."""
        lengths = [file.n_rows for file in self.files]
        return None if None in lengths else sum(n for n in lengths if n is not None)

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""
        names = [self.names[column] for column in chosen]
        for file in self.files:
            yield from _unchanged(file, file.pieces(names, n_rows))

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Rows of any columns as Arrow record batches."""
        for file in self.files:
            yield from _unchanged(file, file.batches(names, n_rows))

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names of the tables."""
        return tuple(span.name for span in self.tables)

    @property
    def table_notes(self) -> list[str]:
        """Notes on columns with changed units."""
        return [
            f"'{column}' of {span.name} is {_said(by)}."
            for span in self.tables
            for column, by in self.files[span.first].moved.items()
            if column in self.files[span.first].written
        ]

    @property
    def table_holds(self) -> Mask:
        """Which columns each table has; (t, d)."""
        firsts = [self.files[span.first] for span in self.tables]
        return np.array([[name in file.written for name in self.names] for file in firsts])

    @cached_property
    def table_lengths(self) -> tuple[int, ...]:
        """The number of rows of each table."""
        each = (self.files[span.first : span.last] for span in self.tables)
        return tuple(sum(_n_rows(file) for file in files) for files in each)

    def n_unseen(self) -> Array:
        """The number of unseen categories of each column; (d,)."""
        counts = np.zeros(len(self.names))
        places = {name: self.names.index(name) for name in self.maybe_new}
        if not places:
            return counts
        for batch in self.batches(self.maybe_new, ROWS_A_BATCH):
            for name, place in places.items():
                labels = () if self.coding is None else self.coding.labels[place]
                codes = codes_of(batch.column(name), labels, self.gaps.of(name))
                counts[place] += np.sum(codes == UNSEEN_CODE)
        return counts

    def parts(self) -> "list[FilePart]":
        """Row groups of Parquet files; other files as they are."""
        return [
            FilePart(
                replace(self, files=(file._replace(format=part.format),), tables=()),
                file.n_rows if part.n_rows is None else part.n_rows,
                f"{part.name} of {file.path.name}" if part.name else file.path.name,
                part.content,
            )
            for file in self.files
            for part in file.format.parts(file.path)
        ]


class FilePart(NamedTuple):
    """Rows that can be read on their own."""

    source: FileSource
    n_rows: int | None  # None if only reading tells
    name: str  # for errors
    content: Any = None  # Delayed: what Dask computes the rows from, if they are in no file


def _filling(zero: list[bool]) -> Callable[[Piece], Piece]:
    if not any(zero):
        return lambda piece: piece

    def filled(table: Callable[[], np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        values = table()
        return np.where(np.isnan(values) & zero, values.dtype.type(0), values)

    return lambda piece: Piece(piece.n_rows, partial(filled, piece.table))


def file_stamp(file: Path) -> FileStamp:
    """A stamp that changes if a file changes."""
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _said(by: Affine) -> str:
    """A change of units in words.

    >>> _said(Affine(18.016)), _said(Affine(1.0, -2.5))
    ('multiplied by 18.016', 'lowered by 2.5')
    """
    times = [] if by.factor == 1 else [f"multiplied by {by.factor:.6g}"]
    way = "raised" if by.shift > 0 else "lowered"
    more = [f"{way} by {abs(by.shift):.6g}"] if by.shift else []
    return " and then ".join([*times, *more]) or "as it is"


def _n_rows(file: TableFile) -> int:
    if file.n_rows is not None:
        return file.n_rows
    return sum(piece.n_rows for piece in file.pieces(list(file.written)[:1], 1 << 20))


def _unchanged(file: TableFile, read: Iterator[Any]) -> Iterator[Any]:
    _check_unchanged(file)
    try:
        yield from read
    except DataError:
        _check_unchanged(file)  # that says more than what came of it
        raise
    _check_unchanged(file)


def _check_unchanged(file: TableFile) -> None:
    if file.stamp is None:
        return
    try:
        same = file_stamp(file.path) == file.stamp
    except OSError as error:
        raise DataError(f"{file.path.name} is no longer there: {error}. Fit again.") from error
    if not same:
        raise DataError(f"{file.path.name} changed while it was being read. Fit again.")
