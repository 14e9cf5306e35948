"""Formats that a library of their own reads as a whole, into memory."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from halfseen.rows.engines.batched import Piece
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.formats.arrow_columns import header_of, look_through, pieces_of
from halfseen.tables.formats.format import Header, Look, Part, Reading, reading
from halfseen.tables.formats.text_frame import Given

MOST_TABLES = 4
_TABLES: OrderedDict[Any, "Table"] = OrderedDict()
"""Those that were read last: commands open the same one several times."""


class Table(NamedTuple):
    """What was read of a file."""

    cells: Any  # an Arrow table
    notes: tuple[str, ...] = ()  # what is to be said of how it was found, after the file's name


@dataclass(frozen=True)
class WholeTable:
    """A table that is in memory while it is read."""

    read: Callable[[Path, Given], Table]
    needs: str = "pyarrow"  # the library
    extra: str = "io"  # with which it is installed
    takes: tuple[str, ...] = ("table",)  # what people may say of a file
    given: Given = Given()  # noqa: RUF009 - immutable

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        found = self._table(file)
        notes = tuple(f"{file.name} {note}." for note in found.notes)
        return header_of(found.cells.schema)._replace(notes=notes)

    def look(self, file: Path, header: Header, stored: tuple[str, ...], gaps: Gaps) -> Look:
        """What cells of some columns look like."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: Reading, n_rows: int) -> Iterator[Piece]:
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

    def _table(self, file: Path) -> Table:
        status = file.stat()
        key = (self, file.absolute(), status.st_size, status.st_mtime_ns)
        found = _TABLES.pop(key, None) or self._read(file)
        _TABLES[key] = found
        while len(_TABLES) > MOST_TABLES:
            _TABLES.popitem(last=False)
        return found

    def _read(self, file: Path) -> Table:
        try:
            with reading(file, lambda: "its table"):
                return self.read(file, self.given)
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"Reading {file.name} needs {self.needs}. Install it with: pip install "
                f"'halfseen[{self.extra}]'"
            ) from missing
