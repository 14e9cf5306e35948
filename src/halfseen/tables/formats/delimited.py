"""Text files with a value between delimiters, CSV and TSV, plain or gzipped."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfseen.rows.batched import Piece
from halfseen.tables.formats.arrow_columns import header_of, pieces_of
from halfseen.tables.formats.format import Header, Part, reading

FEWEST_BYTES = 1 << 20
"""Of text parsed at a time: a row must not be longer."""

BYTES_AN_ENTRY = 2
"""Of text at the least: a digit and a delimiter."""


@dataclass(frozen=True)
class Delimited:
    """Rows by line, after a line of names. Empty fields and the usual words for NaN are gaps.

    What type a column has is read off the first lines: true and false where they stand there,
    otherwise floats, so that a column may begin with whole numbers and go on with others.
    """

    delimiter: str
    compression: str | None = None

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        with (
            reading(file, lambda: "its first lines"),
            self._opened(file, FEWEST_BYTES) as batches,
        ):
            header = header_of(batches.schema)
            first = next(batches, None) if header.text else None
            text = {name: _example(first, name) or kind for name, kind in header.text.items()}
            return header._replace(text=text)

    def pieces(self, file: Path, names: tuple[str, ...], n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as named, at most ``n_rows`` rows at a time."""
        from pyarrow import bool_, float64

        done = 0
        with reading(file, lambda: f"line {done + 2} or later"):
            schema = self._schema(file)
            kinds = {n: bool_() if schema.field(n).type == bool_() else float64() for n in names}
            n_bytes = max(BYTES_AN_ENTRY * n_rows * len(names), FEWEST_BYTES)
            with self._opened(file, n_bytes, kinds) as batches:
                for batch in batches:
                    yield from pieces_of(batch, names, n_rows)
                    done += batch.num_rows

    def parts(self, file: Path) -> list[Part]:
        """All of it: rows are found only by reading."""
        return [Part(self, None, "")]

    def _schema(self, file: Path) -> Any:
        with self._opened(file, FEWEST_BYTES) as batches:
            return batches.schema

    @contextmanager
    def _opened(
        self, file: Path, n_bytes: int, kinds: dict[str, Any] | None = None
    ) -> Iterator[Any]:
        from pyarrow import csv, input_stream

        convert = csv.ConvertOptions(
            column_types=kinds, include_columns=kinds and list(kinds), strings_can_be_null=True
        )
        # One thread is no slower here, and knows the line of an error.
        read = csv.ReadOptions(block_size=n_bytes, use_threads=False)
        parse = csv.ParseOptions(delimiter=self.delimiter)
        with (
            input_stream(str(file), compression=self.compression) as stream,
            csv.open_csv(stream, read, parse, convert) as batches,
        ):
            yield batches


def _example(batch: Any, name: str) -> str | None:
    """The first value that is not a number, and its line: one stray word makes a column text."""
    if batch is None or batch.schema.names.count(name) > 1:
        return None
    for row, value in enumerate(batch.column(name).to_pylist()):
        if isinstance(value, str) and not _is_number(value):
            return f"'{value}' in line {row + 2}"
    return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
