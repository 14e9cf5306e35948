"""What every format of files can do."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.cells.dates import Dates
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.cells.number_formats import NumberFormat
from halfseen.io.formats.encoding import UTF_8


class Field(NamedTuple):
    """A column as a file has it."""

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
        """What users call the columns."""
        return tuple(field.name for field in self.fields)


class ColumnFormat(NamedTuple):
    """A column, and how its cells are made numbers."""

    stored: str
    writing: NumberFormat = NumberFormat.PLAIN
    as_they_stand: bool = True  # whether a reader of plain numbers and gaps reads all cells
    labels: tuple[str, ...] | None = None  # of words: numbers are their codes; none: all are gaps
    dates: Dates | None = None  # how dates become days, if they do
    absent_as_zero: bool = False  # whether a gap means nought


class ReadPlan(NamedTuple):
    """What is read of a file, and how."""

    columns: tuple[ColumnFormat, ...]
    gaps: MissingCodes

    @property
    def stored(self) -> list[str]:
        """What the file calls the columns."""
        return [column.stored for column in self.columns]


class FileEvidence(NamedTuple):
    """What was seen in a file."""

    n_rows: int | None  # None if not all rows were gone through
    cells: dict[str, CellSums]  # by what the file calls the column


class Format(Protocol):
    """A way to store the rows of a table."""

    def header(self, file: Path) -> Header:
        """The columns of a file."""

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        """What cells of some columns look like, as far as that says how they are read."""

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, in Arrow's record batches."""

    def parts(self, file: Path) -> "list[Part]":
        """The parts of a file that can be read on their own."""


class Part(NamedTuple):
    """Some of a file's rows, as a format that reads no others."""

    format: Format
    n_rows: int | None  # None if only reading tells
    name: str  # for errors: which part, or nothing if it is all of the file
    content: Any = None  # Delayed: what Dask computes it from, if it is in no file


_CELLS = ((r"(Expected \d+ columns, got \d+): .*", r"\1"), (r"invalid value '.*", "invalid value"))
"""Where readers quote what they read: a whole row, or a cell of it."""


def _without_cells(reason: str) -> str:
    """What a reader says, without what it quotes: rows may be of people.

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
    """Say which file, and where in it, whatever goes wrong while it is being read."""
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
    """Refuse a table of more columns than anybody measures."""
    if n_columns > MAX_COLUMNS:
        raise DataError(
            f"{name} says that it has {n_columns:,} columns, and at most {MAX_COLUMNS:,} are "
            "read. Check that rows and columns are not interchanged, or leave columns out."
        )


def check_size(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a sparse matrix of more rows or columns than memory holds."""
    check_width(name, n_columns)
    if n_rows > MAX_ROWS:
        raise DataError(
            f"{name} says that it has {n_rows:,} rows, and at most {MAX_ROWS:,} are read of a "
            "sparse matrix. Write its rows to Parquet files."
        )
