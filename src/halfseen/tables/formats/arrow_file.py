"""Arrow files and streams, which Feather files are too, a record batch at a time.

They are not mapped into memory: a mapped file that is cut short while it is read kills the process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from halfseen.rows.engines.batched import Piece
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.formats.arrow_columns import header_of, look_through, pieces_of
from halfseen.tables.formats.format import Header, Look, Part, Reading, reading

MAGIC = b"ARROW1"
"""How files begin; streams do not."""


class ArrowFile:
    """Rows by record batch, each of which is in memory as a whole."""

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        with reading(file, lambda: "its footer"), _opened(file) as arrow:
            return header_of(arrow.schema)

    def look(self, file: Path, header: Header, stored: tuple[str, ...], gaps: Gaps) -> Look:
        """What cells of some columns look like, as far as that says how they are read."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: Reading, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, by record batch."""
        number = 0
        with reading(file, lambda: f"record batch {number}"), _opened(file, stored) as arrow:
            for batch in _batches(arrow):
                batch.validate(full=True)  # offsets too, which compiled code would follow anywhere
                yield batch
                number += 1

    def parts(self, file: Path) -> list[Part]:
        """All of it: rows are found only by reading."""
        return [Part(self, None, "")]


def _batches(arrow: Any) -> Iterator[Any]:
    if not hasattr(arrow, "get_batch"):
        yield from arrow  # a stream
        return
    for number in range(arrow.num_record_batches):
        yield arrow.get_batch(number)


@contextmanager
def _opened(file: Path, stored: tuple[str, ...] | None = None) -> Iterator[Any]:
    import pyarrow as pa

    with pa.OSFile(str(file)) as stream:
        is_file = stream.read(len(MAGIC)) == MAGIC
        stream.seek(0)
        if not is_file:
            yield pa.ipc.open_stream(stream)
            return
        arrow = pa.ipc.open_file(stream)
        if stored is not None:
            places = [arrow.schema.get_field_index(name) for name in stored]
            options = pa.ipc.IpcReadOptions(included_fields=places)
            arrow = pa.ipc.open_file(stream, options=options)
        yield arrow
