"""What every format of files can do, and how columns of Arrow look, and become floats."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from pyarrow import types

from halfseen.data.arrays import Array
from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.cells.cell_sums import CellSums, count_long_integers, labels_if_few
from halfseen.io.cells.dates import DateOrder, Dates, days_in
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.cells.number_formats import (
    NumberFormat,
    is_text,
    null_likely_codes,
    to_floats,
    trim_and_null,
)
from halfseen.io.coding import UNSEEN_CODE, label_encoder, text_of
from halfseen.io.formats.csv_dialect import UTF_8


class Field(NamedTuple):
    """A column of a file."""

    name: str  # what users call it
    stored: str  # what the file calls it
    other: str | None = None  # what it holds, if neither numbers nor text
    dated: bool = False  # whether that is days, or moments


class Header(NamedTuple):
    """The columns of a file."""

    fields: tuple[Field, ...]
    aside: frozenset[str] = frozenset()  # an index stored with a table: not one of its features
    named: bool = True  # or numbered
    encoding: str = UTF_8  # of text
    notes: tuple[str, ...] = ()  # what is to be said of how the table was found in the file

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns for users."""
        return tuple(field.name for field in self.fields)


class ColumnFormat(NamedTuple):
    """A column, and how its cells become numbers."""

    stored: str
    writing: NumberFormat = NumberFormat.PLAIN
    as_they_stand: bool = True  # whether a reader of plain numbers and gaps reads all cells
    labels: tuple[str, ...] | None = None  # of words: numbers are their codes; none: all are gaps
    dates: Dates | None = None  # how dates become days, if they do
    absent_as_zero: bool = False  # whether a gap means nought


class ReadPlan(NamedTuple):
    """Which columns of a file are read, and how."""

    columns: tuple[ColumnFormat, ...]
    gaps: MissingCodes

    @property
    def stored(self) -> list[str]:
        """The names of the columns in the file."""
        return [column.stored for column in self.columns]


class FileEvidence(NamedTuple):
    """Evidence from a file."""

    n_rows: int | None  # None if not all rows were gone through
    cells: dict[str, CellSums]  # by what the file calls the column


class Format(ABC):
    """A file format; a subclass gives a header and Arrow batches."""

    takes: ClassVar[tuple[str, ...]] = ()
    """What people may say of a file."""

    @abstractmethod
    def header(self, file: Path) -> Header:
        """The columns of a file."""

    @abstractmethod
    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, in Arrow's record batches."""

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        """Evidence of some columns, for how they are read."""
        return _look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def parts(self, file: Path) -> "list[Part]":
        """Parts of a file that can be read independently."""
        return [Part(self, None, "")]


class Part(NamedTuple):
    """Some of a file's rows, as a format of their own."""

    format: Format
    n_rows: int | None  # None if only reading tells
    name: str  # for errors: which part, or nothing if it is all of the file
    content: Any = None  # Delayed: what Dask computes it from, if it is in no file


_CELLS = ((r"(Expected \d+ columns, got \d+): .*", r"\1"), (r"invalid value '.*", "invalid value"))
"""Where readers quote what they read: a whole row, or a cell of it."""


def _without_cells(reason: str) -> str:
    """A reader's message without quoted cells, which may be about people.

    >>> _without_cells("Row #3: Expected 2 columns, got 3: Ada,Lovelace,36")
    'Row #3: Expected 2 columns, got 3'
    """
    for pattern, instead in _CELLS:
        reason = re.sub(pattern, instead, reason)
    return reason


@contextmanager
def read_errors(
    file: Path, place: Callable[[], str], remedy: str = "Write it again, or leave it out."
) -> Iterator[None]:
    """Add the file and position to errors of reading."""
    try:
        yield
    except (DataError, ModuleNotFoundError):
        raise
    except MemoryError as error:  # damaged bytes may ask for any amount
        reason = " ".join(str(error).split()).rstrip(".")
        raise MemoryError(
            f"{file.name} cannot be read at {place()}: {reason}, or its bytes are damaged, and it "
            "is to be written again"
        ) from error
    # Readers of damaged bytes raise whatever the bytes make them do.
    except Exception as error:
        if isinstance(error, PermissionError):
            raise
        reason = _without_cells(" ".join(str(error).split())).rstrip(".")
        raise DataError(f"{file.name} cannot be read at {place()}: {reason}. {remedy}") from error


MAX_COLUMNS = 1 << 24
"""Each has a name: a file of a few bytes that claims to have more would fill the memory."""
MAX_ROWS = 1 << 31
"""Of a sparse matrix, which is in memory as a whole, rows in which nothing is stored too."""


def check_width(name: str, n_columns: int) -> None:
    """Refuse a table with too many columns."""
    if n_columns > MAX_COLUMNS:
        raise DataError(
            f"{name} says that it has {n_columns:,} columns, and at most {MAX_COLUMNS:,} are "
            "read. Check that rows and columns are not interchanged, or leave columns out."
        )


def check_size(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a sparse matrix too large for memory."""
    check_width(name, n_columns)
    if n_rows > MAX_ROWS:
        raise DataError(
            f"{name} says that it has {n_rows:,} rows, and at most {MAX_ROWS:,} are read of a "
            "sparse matrix. Write its rows to Parquet files."
        )


FIRST_CELLS = 1 << 20
"""Cells of the first rows, which settle what most columns hold."""

UNSHIFTED_DATES = Dates(DateOrder.TYPED, 0.0)


def header_of(schema: Any) -> Header:
    """The columns of a schema, with the index that pandas keeps beside them."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    fields = tuple(
        Field(
            named(name, number),
            name,
            _other(schema.field(number).type),
            _dated(schema.field(number).type),
        )
        for number, name in enumerate(schema.names)
    )
    stored = {name for name in index if isinstance(name, str)}
    return Header(fields, frozenset(field.name for field in fields if field.stored in stored))


def named(name: str, number: int) -> str:
    """The name of a column; its number, from 1, without one."""
    return name.strip() or f"column {number + 1}"


def pieces_of(batch: Any, reading: ReadPlan, n_rows: int) -> Iterator[Piece]:
    """Slices of a record batch of at most ``n_rows`` rows."""
    for start in range(0, batch.num_rows, n_rows):
        part = batch.slice(start, n_rows)
        yield Piece(part.num_rows, partial(_floats, part, reading))


def _look_through(
    batches: Callable[[tuple[str, ...], int], Iterator[Any]],
    header: Header,
    stored: tuple[str, ...],
    gaps: MissingCodes,
) -> FileEvidence:
    """Evidence from the first rows, and from all rows where these do not decide.

    What cannot be read is not seen: the pass that sums the rows says where it is.
    """
    n_rows = max(FIRST_CELLS // max(len(header.fields), 1), 64)  # whichever columns are asked for
    found = dict.fromkeys(stored, CellSums())
    try:
        first = next(batches(stored, n_rows), None)
        if first is None:
            return FileEvidence(0, found)
        found |= cells_of(first, stored, gaps)
        rest = tuple(name for name in stored if not found[name].settled)
        return (
            _all_rows(batches(rest, n_rows), rest, gaps, found)
            if rest
            else FileEvidence(None, found)
        )
    except DataError:
        return FileEvidence(None, found)


def _all_rows(
    batches: Iterator[Any], stored: tuple[str, ...], gaps: MissingCodes, found: dict[str, CellSums]
) -> FileEvidence:
    """Evidence ``found`` completed by all rows where it is needed."""
    total, cells = 0, dict.fromkeys(stored, CellSums())
    for batch in batches:
        unsettled = [name for name in stored if not cells[name].settled]
        if not unsettled:
            return FileEvidence(None, found | cells)
        total += batch.num_rows
        for name, sums in cells_of(batch, unsettled, gaps).items():
            cells[name] += sums
    return FileEvidence(total, found | cells)


def cells_of(batch: Any, stored: Sequence[str], gaps: MissingCodes) -> dict[str, CellSums]:
    """Evidence of columns of a record batch."""
    return {name: sums_of(batch.column(name), gaps.of(name)) for name in stored}


def sums_of(column: Any, gaps: MissingCodes) -> CellSums:
    """Sums over the cells of a column."""
    if types.is_dictionary(column.type):
        sums = sums_of(column.cast(column.type.value_type), gaps)
        return replace(sums, category=True, **_categories(column, gaps))
    if is_text(column.type):
        return CellSums.of_text(column, gaps)
    if _dated(column.type):
        sums = CellSums.of_numbers(days_in(column, UNSHIFTED_DATES))
        return replace(sums, orders=frozenset({DateOrder.TYPED}))
    values = to_floats(column, NumberFormat.PLAIN, gaps)
    truths, long = types.is_boolean(column.type), count_long_integers(column, values)
    return CellSums.of_numbers(values, truths=truths, long=long)


def _categories(column: Any, gaps: MissingCodes) -> dict[str, Any]:
    gap_words = frozenset(gaps.words)
    words = [text_of(value, gap_words) for value in column.dictionary.to_pylist()]
    used = {words[place] for place in column.indices.unique().drop_null().to_pylist()}
    order = tuple(dict.fromkeys(word for word in words if word is not None))
    return {
        "categories": labels_if_few(word for word in used if word is not None),
        "order": order if column.type.ordered else None,
    }


def _other(kind: Any) -> str | None:
    if types.is_dictionary(kind):
        return _other(kind.value_type)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if is_text(kind) or any(test(kind) for test in tests):
        return None
    return "dates or times" if types.is_temporal(kind) else f"values of type {kind}"


def _dated(kind: Any) -> bool:
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def _floats(batch: Any, reading: ReadPlan) -> np.ndarray[Any, Any]:
    """Columns as floats, nulls as NaN, float32 if all are; column after column, as Arrow does."""
    columns = [
        _as_floats(batch, column, reading.gaps.of(column.stored)) for column in reading.columns
    ]
    single = all(column.dtype == np.float32 for column in columns)
    shape = (batch.num_rows, len(columns))
    table = np.empty(shape, np.float32 if single else np.float64, order="F")
    for place, column in enumerate(columns):
        table[:, place] = column
    return table


def _as_floats(batch: Any, column: ColumnFormat, gaps: MissingCodes) -> np.ndarray[Any, Any]:
    if column.dates is not None:
        return _days(batch.column(column.stored), column.dates, column.stored, gaps)
    if column.labels is None:
        return to_floats(batch.column(column.stored), column.writing, gaps)
    if not column.labels:
        return np.full(batch.num_rows, np.nan)
    codes = codes_of(batch.column(column.stored), column.labels, gaps)
    return np.where(codes == UNSEEN_CODE, np.nan, codes)


def _days(cells: Any, dates: Dates, name: str, gaps: MissingCodes) -> Array:
    """Dates as days; refuse those in another format than what was looked at."""
    known = null_likely_codes(trim_and_null(cells, gaps)) if is_text(cells.type) else cells
    days = days_in(known, dates)
    if np.isnan(days).sum() > known.null_count:
        raise DataError(
            f"Column '{name}' holds dates in several writings, or a day that there is "
            "not. Write all of them as 2020-12-31, or leave the column out."
        )
    return days


def codes_of(column: Any, labels: tuple[str, ...], gaps: MissingCodes) -> Array:
    """The codes of an Arrow column of words, NaN in the gaps, -1 for unseen words."""
    encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    code, gap_words = label_encoder(labels), frozenset(gaps.words)
    words = (text_of(value, gap_words) for value in encoded.dictionary.to_pylist())
    codes = np.array([np.nan if word is None else code(word) for word in words], dtype=float)
    places = encoded.indices.cast("int64").fill_null(len(codes))
    found: Array = np.append(codes, np.nan)[places.to_numpy(zero_copy_only=False)]
    return found
