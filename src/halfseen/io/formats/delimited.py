"""Text files with a value between delimiters, CSV and TSV, plain or gzipped."""

import csv as text_cells
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from io import RawIOBase, StringIO
from pathlib import Path
from typing import Any, ClassVar

from pyarrow import ArrowInvalid, PythonFile, compute, csv, float64, input_stream, string, types

from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.cells.cell_sums import COMMA, CellSums
from halfseen.io.cells.missing_values import COUNTED_CODES, NONE, MissingCodes
from halfseen.io.formats.csv_dialect import (
    CHARACTERS_READ,
    COMMENTS,
    MIN_LINES_READ,
    SPACES,
    UTF_8,
    Dialect,
    ReadOptions,
    detect_dialect,
    encoding_of,
)
from halfseen.io.formats.format import (
    Field,
    FileEvidence,
    Format,
    Header,
    ReadPlan,
    cells_of,
    named,
    pieces_of,
    read_errors,
)

MIN_BLOCK_BYTES = 1 << 20
"""Of text parsed at a time: a row must not be longer."""

MIN_BYTES_PER_CELL = 2
"""Of text at the least: a digit and a delimiter."""

STORED_CELLS = MissingCodes()
"""For columns that are handed on as they are, of which nothing is counted."""
LEADING_ZERO = r"^[+-]?0\d"


@dataclass(frozen=True)
class Delimited(Format):
    """Rows by line, after a line of names. Empty cells and the usual words for gaps are gaps.

    A look through all of the file tells how each column is written, so that a column may begin
    with whole numbers and go on with fractions, words or gaps.
    """

    delimiter: str  # that the name of the file says; what its lines say counts more
    compression: str | None = None
    given: ReadOptions = ReadOptions()  # noqa: RUF009 - immutable
    takes: ClassVar[tuple[str, ...]] = ("encoding", "header", "skip")

    def header(self, file: Path) -> Header:
        with read_errors(file, lambda: "its first line"):
            frame = self._frame(file)
        if frame is None:
            raise DataError(
                f"{file.name} cannot be read at its first line: {file.name} is empty. Give a "
                "table with a line of column names."
            )
        names = [name for name, _ in self._begins(file, None, MissingCodes())]
        fields = tuple(Field(named(name, i), name) for i, name in enumerate(names))
        told = tuple(f"{file.name} " + note + "." for note in frame.notes)
        return Header(fields, encoding=self._encoding(file), notes=told)

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        begins = dict(self._begins(file, stored, gaps))
        number = {n for n, t in begins.items() if types.is_integer(t) or types.is_floating(t)}
        number = set() if gaps.decimal == COMMA else number
        kinds = {name: float64() if name in number else string() for name in stored}
        try:
            found = self._looked(file, kinds, gaps)
        except DataError:  # a column begins with numbers and goes on otherwise
            return self._looked(file, dict.fromkeys(stored, string()), gaps)
        # How many digits numbers are written with is known from their text alone.
        large = {name: string() for name in number if found.cells[name].distinct.large}
        if not large:
            return found
        return FileEvidence(found.n_rows, found.cells | self._looked(file, large, gaps).cells)

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        kinds = {c.stored: float64() if c.as_they_stand else string() for c in wanted.columns}
        for batch in self._batches(file, kinds, n_rows, wanted.gaps):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        kinds = self._kinds(file, stored)
        as_text = self._long(file, kinds) | self._padded(file, kinds)
        yield from self._batches(file, kinds | as_text, n_rows, STORED_CELLS)

    def _looked(self, file: Path, kinds: dict[str, Any], gaps: MissingCodes) -> FileEvidence:
        found, total = dict.fromkeys(kinds, CellSums()), 0
        for batch in self._batches(file, kinds, 1, gaps):
            total += batch.num_rows
            unsettled = [name for name in kinds if not found[name].settled]
            for name, sums in cells_of(batch, unsettled, gaps).items():
                found[name] += sums
        return FileEvidence(total, found)

    def _kinds(self, file: Path, stored: tuple[str, ...]) -> dict[str, Any]:
        """The narrowest type of each column that fits all cells.

        Most often it is what the first cells are; each column is tried alone only if it is not so.
        """
        first = dict(self._begins(file, stored, STORED_CELLS))
        first = {name: string() if types.is_null(kind) else kind for name, kind in first.items()}
        if self._hold(file, first):
            return first
        return {
            name: next((k for k in (kind, float64()) if self._hold(file, {name: k})), string())
            for name, kind in first.items()
        }

    def _long(self, file: Path, kinds: dict[str, Any]) -> dict[str, Any]:
        floats = tuple(name for name, kind in kinds.items() if types.is_floating(kind))
        if not floats:
            return {}
        cells = self.look(file, self.header(file), floats, STORED_CELLS).cells
        return {name: string() for name, sums in cells.items() if sums.long}

    def _padded(self, file: Path, kinds: dict[str, Any]) -> dict[str, Any]:
        """Columns of whole numbers with leading zeros, which are codes."""
        whole = {name: string() for name, kind in kinds.items() if types.is_integer(kind)}
        padded: dict[str, Any] = {}
        if whole:
            for batch in self._batches(file, whole, 1, STORED_CELLS):
                for name in whole.keys() - padded.keys():
                    if compute.any(
                        compute.match_substring_regex(batch[name], LEADING_ZERO)
                    ).as_py():
                        padded[name] = string()
        return padded

    def _hold(self, file: Path, kinds: dict[str, Any]) -> bool:
        try:
            with self._opened(file, MIN_BLOCK_BYTES, kinds, STORED_CELLS) as batches:
                for _ in batches:
                    pass
        except ArrowInvalid:
            return False
        return True

    def _begins(
        self, file: Path, stored: tuple[str, ...] | None, gaps: MissingCodes
    ) -> list[tuple[str, Any]]:
        kinds = None if stored is None else dict.fromkeys(stored)
        with (
            read_errors(file, lambda: "its first lines", self._remedy(file)),
            self._opened(file, MIN_BLOCK_BYTES, kinds, gaps) as batches,
        ):
            return [(field.name, field.type) for field in batches.schema]

    def _remedy(self, file: Path) -> str:
        frame = self._frame(file)
        delimiter = self.delimiter if frame is None else frame.delimiter
        return (
            "Check that every line has as many cells as the first, separated by "
            f"{delimiter!r}, write the file again, or leave it out."
        )

    def _batches(
        self, file: Path, kinds: dict[str, Any], n_rows: int, gaps: MissingCodes
    ) -> Iterator[Any]:
        done = 0
        n_bytes = max(MIN_BYTES_PER_CELL * n_rows * len(kinds), MIN_BLOCK_BYTES)
        with (
            read_errors(file, lambda: f"line {done + 2} or later", self._remedy(file)),
            self._opened(file, n_bytes, kinds, gaps) as batches,
        ):
            for batch in batches:
                yield batch
                done += batch.num_rows

    @contextmanager
    def _opened(
        self,
        file: Path,
        n_bytes: int,
        kinds: dict[str, Any] | None = None,
        gaps: MissingCodes = MissingCodes(),  # noqa: B008 - immutable
    ) -> Iterator[Any]:
        convert = csv.ConvertOptions(
            column_types={name: kind for name, kind in (kinds or {}).items() if kind is not None},
            include_columns=kinds and list(kinds),
            strings_can_be_null=True,
            null_values=[word for word in gaps.words if word not in _counted(gaps)],
        )
        frame = self._frame(file) or Dialect(self.delimiter)
        # One thread is no slower here, and knows the line of an error.
        read = csv.ReadOptions(
            block_size=n_bytes,
            use_threads=False,
            encoding=UTF_8 if frame.squeezed else self._encoding(file),
            skip_rows=0 if frame.squeezed else frame.skip,
            skip_rows_after_names=int(frame.units),
            column_names=frame.names,
        )
        parse = csv.ParseOptions(
            delimiter="\t" if frame.squeezed else frame.delimiter,
            newlines_in_values=True,
            invalid_row_handler=_comments_aside if frame.comments else None,
        )
        with (
            self._stream(file, frame) as stream,
            csv.open_csv(stream, read, parse, convert) as batches,
        ):
            yield batches

    @contextmanager
    def _stream(self, file: Path, frame: Dialect) -> Iterator[Any]:
        """The bytes of a file, with runs of spaces replaced by tabs."""
        if not frame.squeezed:
            with input_stream(str(file), compression=self.compression) as stream:
                yield stream
            return
        with self._text(file) as text:
            for _ in range(frame.skip):
                text.readline()
            yield PythonFile(_Squeezed(text), mode="r")

    def _text(self, file: Path) -> Any:
        encoding = self._encoding(file)
        encoding = "utf-8-sig" if encoding == UTF_8 else encoding
        return self._opener(file, "rt", encoding=encoding, errors="replace")

    def _lines(self, file: Path) -> list[str]:
        lines: list[str] = []
        with self._text(file) as text:
            n_signs = 0
            while n_signs < CHARACTERS_READ or len(lines) < MIN_LINES_READ:
                line = text.readline(MIN_BLOCK_BYTES)
                if not line:
                    break
                lines.append(line.rstrip("\n"))
                n_signs += len(line)
        return lines

    def _frame(self, file: Path) -> Dialect | None:
        """Where the table stands; None if the file is empty."""
        status = file.stat()
        return _frame_of(self, file, status.st_size, status.st_mtime_ns)

    @property
    def _opener(self) -> Any:
        return gzip.open if self.compression == "gzip" else open

    def _encoding(self, file: Path) -> str:
        return self.given.encoding or encoding_of(file, self._opener)


@lru_cache(maxsize=64)
def _frame_of(format: Delimited, file: Path, size: int, changed: int) -> Dialect | None:
    lines = format._lines(file)
    return detect_dialect(lines, format.delimiter, format.given) if lines else None


def _counted(gaps: MissingCodes) -> tuple[str, ...]:
    """Words for gaps that are counted."""
    return (NONE,) if gaps is STORED_CELLS else COUNTED_CODES


def _comments_aside(row: Any) -> str:
    """Refuse lines of another length, unless they are comments."""
    return "skip" if (row.text or "").startswith(COMMENTS) else "error"


class _Squeezed(RawIOBase):
    """Bytes with runs of spaces replaced by tabs."""

    def __init__(self, text: Any):
        self._rows = text_cells.reader(
            (line.strip() for line in text), delimiter=SPACES, skipinitialspace=True
        )
        self._waiting = b""

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes, as many if there are."""
        size = -1 if size is None else size
        while size < 0 or len(self._waiting) < size:
            row = next(self._rows, None)
            if row is None:
                break
            line = StringIO()
            text_cells.writer(line, delimiter="\t", lineterminator="\n").writerow(row)
            self._waiting += line.getvalue().encode() if row else b""
        taken = self._waiting if size < 0 else self._waiting[:size]
        self._waiting = self._waiting[len(taken) :]
        return taken
