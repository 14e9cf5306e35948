"""Formats that a library of their own reads as a whole, into memory."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa

from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.io.cells.category_codes import is_missing, text_of
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.containers import as_frame
from halfseen.io.formats.arrow_columns import header_of, look_through, pieces_of
from halfseen.io.formats.csv_dialect import ReadOptions
from halfseen.io.formats.format import FileEvidence, Header, Part, ReadPlan, read_errors

MAX_CACHED_TABLES = 4
_TABLES: OrderedDict[Any, "LoadedTable"] = OrderedDict()
"""Those that were read last: commands open the same one several times."""


class LoadedTable(NamedTuple):
    """What was read of a file."""

    cells: Any  # an Arrow table
    notes: tuple[str, ...] = ()  # what is to be said of how it was found, after the file's name


@dataclass(frozen=True)
class WholeTable:
    """A table that is in memory while it is read."""

    read: Callable[[Path, ReadOptions], LoadedTable]
    needs: str = ""  # the library, if none of ours
    extra: str = ""  # with which it is installed
    takes: tuple[str, ...] = ("table",)  # what people may say of a file
    given: ReadOptions = ReadOptions()  # noqa: RUF009 - immutable

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        found = self._table(file)
        notes = tuple(f"{file.name} " + note + "." for note in found.notes)
        return header_of(found.cells.schema)._replace(notes=notes)

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        """What cells of some columns look like."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, in Arrow's record batches."""
        cells = self._table(file).cells.select(list(stored))
        yield from cells.combine_chunks().to_batches(n_rows)

    def parts(self, file: Path) -> list[Part]:
        """All of it."""
        return [Part(self, None, "")]

    def _table(self, file: Path) -> LoadedTable:
        status = file.stat()
        key = (self, file.absolute(), status.st_size, status.st_mtime_ns)
        found = _TABLES.pop(key, None) or self._read(file)
        _TABLES[key] = found
        while len(_TABLES) > MAX_CACHED_TABLES:
            _TABLES.popitem(last=False)
        return found

    def _read(self, file: Path) -> LoadedTable:
        try:
            with read_errors(file, lambda: "its table"):
                return self.read(file, self.given)
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"Reading {file.name} needs {self.needs}. Install it with: pip install "
                f"'halfseen[{self.extra}]'"
            ) from missing


MAX_TABLES_NAMED = 12


def choose_table(file: Path, known: Sequence[str], asked: str | None, what: str = "tables") -> str:
    """The table that is asked for, or the only one."""
    named = quoted(known, range(len(known)), MAX_TABLES_NAMED)
    if asked is not None and asked not in known:
        raise DataError(f"{file.name} has no table '{asked}'. It has {named or 'none'}.")
    if asked is not None:
        return asked
    if not known:
        raise DataError(f"{file.name} holds no table. Give a file with one.")
    if len(known) > 1:
        raise DataError(
            f"{file.name} holds several {what}: {named}. Say which one with "
            + setting(table=known[0])
            + "."
        )
    return known[0]


def arrow_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Rows of cells as an Arrow table; rows that are too short end in gaps.

    >>> table = arrow_table(["age", "who"], [[61, "Ada"], [40.5]])
    >>> table["age"].to_pylist(), table["who"].to_pylist()
    ([61.0, 40.5], ['Ada', None])
    """
    columns = [
        arrow_column([row[place] if place < len(row) else None for row in rows])
        for place in range(len(names))
    ]
    return pa.Table.from_arrays(columns, names=list(names))


def arrow_column(cells: Sequence[Any]) -> Any:
    """An Arrow column of cells that may be of several types."""
    known = [None if is_missing(cell) or cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    if not kinds:
        return pa.array([None] * len(known), pa.float64())
    if kinds <= {bool}:
        return pa.array(known, pa.bool_())
    if bool not in kinds and all(issubclass(kind, Real | Decimal) for kind in kinds):
        return _numbers(known)
    if all(issubclass(kind, date) for kind in kinds):
        return pa.array([None if cell is None else _moment(cell) for cell in known])
    return pa.array([text_of(cell, frozenset()) for cell in known], pa.string())


def _numbers(known: Sequence[Any]) -> Any:
    """Whole numbers as such where they need all of their digits, as identifiers do."""
    if all(cell is None or isinstance(cell, int) for cell in known):
        try:
            return pa.array(known, pa.int64())
        except OverflowError:
            return pa.array([None if cell is None else str(cell) for cell in known], pa.string())
    return pa.array([None if cell is None else float(cell) for cell in known], pa.float64())


def _moment(cell: date) -> datetime:
    moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
    return moment.replace(tzinfo=None)


@dataclass(frozen=True, eq=False)
class MemoryTables:
    """Rows that somebody holds, in one table or in several that come one after another."""

    give: Callable[[], Iterator[Any]]  # Arrow tables, the same ones each time
    delayed: tuple[Any, ...] = ()  # what Dask computes each of them from, if it does

    @classmethod
    def of(cls, table: Any) -> Self:
        """The rows of one data frame, of any library."""
        return cls(partial(_once, as_arrow(table)))

    def header(self, file: Path) -> Header:
        """The columns of the table."""
        for table in self.give():
            return header_of(table.schema)
        raise DataError(f"{file.name} holds no batches. Give at least one.")

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        """What cells of some columns look like."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        """The rows in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows in order, columns as they are, in Arrow's record batches."""
        for number, table in enumerate(self.give()):
            lacking = [name for name in stored if name not in table.column_names]
            if lacking:
                raise DataError(
                    f"Batch {number} of {file.name} has no column '{lacking[0]}', but batch 0 has. "
                    "Batches of one table need the same columns."
                )
            yield from table.select(list(stored)).combine_chunks().to_batches(n_rows)

    def parts(self, file: Path) -> list[Part]:
        """Partitions of Dask; all of any other table."""
        if not self.delayed:
            return [Part(self, None, "")]
        return [
            Part(self, None, f"partition {number}", part)
            for number, part in enumerate(self.delayed)
        ]


def _once(table: Any) -> Iterator[Any]:
    yield table


def as_arrow(table: Any) -> Any:
    """A data frame, or a batch of Arrow's, as an Arrow table."""
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    frame = as_frame(table)
    if frame is None:
        raise DataError(
            f"A {type(table).__name__} has no names of columns, and tables are put together by "
            "name. Give data frames, or files."
        )
    try:
        return frame.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise DataError(
            f"The data frame has a column of several sorts of cells ({reason}). Make each column "
            "of numbers, or of text."
        ) from error
