"""Arrow files, which Feather files are too, a record batch at a time.

They are not mapped into memory: a mapped file that is cut short while it is read kills the process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halfseen.rows.batched import Piece
from halfseen.tables.formats.arrow_columns import header_of, pieces_of
from halfseen.tables.formats.format import Header, Part, reading


class ArrowFile:
    """Rows by record batch, each of which is in memory as a whole."""

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        with reading(file, lambda: "its footer"), _opened(file) as arrow:
            return header_of(arrow.schema)

    def pieces(self, file: Path, names: tuple[str, ...], n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as named, at most ``n_rows`` rows at a time."""
        number = 0
        with reading(file, lambda: f"record batch {number}"), _opened(file, names) as arrow:
            for number in range(arrow.num_record_batches):
                batch = arrow.get_batch(number)
                batch.validate()
                yield from pieces_of(batch, names, n_rows)

    def parts(self, file: Path) -> list[Part]:
        """All of it: rows are found only by reading."""
        return [Part(self, None, "")]


@contextmanager
def _opened(file: Path, names: tuple[str, ...] | None = None) -> Iterator[Any]:
    import pyarrow as pa

    with pa.OSFile(str(file)) as stream:
        arrow = pa.ipc.open_file(stream)
        if names is not None:
            places = [arrow.schema.get_field_index(name) for name in names]
            options = pa.ipc.IpcReadOptions(included_fields=places)
            arrow = pa.ipc.open_file(stream, options=options)
        yield arrow
