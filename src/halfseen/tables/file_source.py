"""The rows of files, one file after another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.engines.batched import Piece
from halfseen.rows.errors import DataError
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.cells.words import UNSEEN
from halfseen.tables.coding import Coding
from halfseen.tables.formats.arrow_columns import codes_of
from halfseen.tables.formats.encoding import told
from halfseen.tables.formats.format import Format, Header, Reading, Written
from halfseen.tables.kinds import Column

ROWS_A_BATCH = 1 << 14

Stamp = tuple[int, int]
"""Size and time of change of a file: another one means another content."""


class OneFile(NamedTuple):
    """A file of a table, as it was when it was opened."""

    path: Path
    stamp: Stamp
    header: Header
    n_rows: int | None = None  # None if only reading tells


@dataclass(frozen=True, eq=False)
class FileSource:
    """The rows of files, one file after another. Columns are found by name in each."""

    files: tuple[OneFile, ...]
    format: Format
    names: tuple[str, ...]
    named: bool
    written: tuple[Written, ...]  # how each column is written; its place is looked up in each file
    gaps: Gaps
    columns: tuple[Column, ...] = ()  # what became of all that were looked at
    coding: Coding | None = None  # how columns become numbers, if they may be of words
    maybe_new: tuple[str, ...] = ()  # columns in which there may be words that are no labels

    @property
    def all_names(self) -> tuple[str, ...]:
        """All columns of the files, read or not."""
        return self.files[0].header.names

    @property
    def notes(self) -> list[str]:
        """What is to be said of the files themselves."""
        encodings = (told(file.path.name, file.header.encoding) for file in self.files)
        found = [sentence for sentence in encodings if sentence is not None]
        return [*found, *(note for file in self.files for note in file.header.notes)]

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, if that is known without reading."""
        lengths = [file.n_rows for file in self.files]
        return None if None in lengths else sum(n for n in lengths if n is not None)

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""
        for file in self.files:
            stored = {field.name: field.stored for field in file.header.fields}
            written = (
                self.written[column]._replace(stored=stored[self.names[column]])
                for column in chosen
            )
            reading = Reading(tuple(written), self.gaps)
            yield from _unchanged(file, self.format.pieces(file.path, reading, n_rows))

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        """The rows with any columns as they are, numbers or not, in Arrow's record batches."""
        for file in self.files:
            stored = {field.name: field.stored for field in file.header.fields}
            places = tuple(stored[name] for name in names)
            for batch in _unchanged(file, self.format.batches(file.path, places, n_rows)):
                yield batch.select(list(places)).rename_columns(list(names))

    def n_unseen(self) -> Array:
        """How many cells of each column hold words that are none of its labels; (d,)."""
        counts = np.zeros(len(self.names))
        places = {name: self.names.index(name) for name in self.maybe_new}
        if not places:
            return counts
        for batch in self.batches(self.maybe_new, ROWS_A_BATCH):
            for name, place in places.items():
                labels = self.written[place].labels or ()
                codes = codes_of(batch.column(name), labels, self.gaps.of(name))
                counts[place] += np.sum(codes == UNSEEN)
        return counts

    def parts(self) -> "list[FilePart]":
        """Row groups of Parquet files; other files as they are."""
        return [
            FilePart(
                replace(self, files=(file,), format=part.format),
                file.n_rows if part.n_rows is None else part.n_rows,
                f"{part.name} of {file.path.name}" if part.name else file.path.name,
            )
            for file in self.files
            for part in self.format.parts(file.path)
        ]


class FilePart(NamedTuple):
    """Rows that can be read on their own."""

    source: FileSource
    n_rows: int | None  # None if only reading tells
    name: str  # for errors


def stamp_of(file: Path) -> Stamp:
    """By which a file that changed is noticed."""
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _unchanged(file: OneFile, read: Iterator[Any]) -> Iterator[Any]:
    """What is read of a file, as long as it stays as it was."""
    _check_unchanged(file)
    try:
        yield from read
    except DataError:
        _check_unchanged(file)  # that says more than what came of it
        raise
    _check_unchanged(file)


def _check_unchanged(file: OneFile) -> None:
    try:
        same = stamp_of(file.path) == file.stamp
    except OSError as error:
        raise DataError(f"{file.path.name} is no longer there: {error}. Fit again.") from error
    if not same:
        raise DataError(f"{file.path.name} changed while it was being read. Fit again.")
