"""Arrow files and streams, which Feather files are too, a record batch at a time.

They are not mapped into memory: a mapped file that is cut short while it is read kills the process.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.formats.arrow_columns import header_of, look_through, pieces_of
from halfseen.io.formats.format import FileEvidence, Header, Part, ReadPlan, read_errors

MAGIC = b"ARROW1"
"""How files begin; streams do not."""


class ArrowFile:
    """Rows by record batch, each of which is in memory as a whole."""

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        with read_errors(file, lambda: "its footer"), _open_arrow(file) as arrow:
            return header_of(arrow.schema)

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        """What cells of some columns look like, as far as that says how they are read."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, by record batch."""
        number = 0
        with (
            read_errors(file, lambda: f"record batch {number}"),
            _open_arrow(file, stored) as arrow,
        ):
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
def _open_arrow(file: Path, stored: tuple[str, ...] | None = None) -> Iterator[Any]:
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


BUFFER = 1 << 18
"""Bytes of each column that are read at a time: a row group is never in memory as a whole."""


@dataclass(frozen=True)
class Parquet:
    """Rows by row group; batches go on from one to the next."""

    group: int | None = None  # the only one that is read

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        with read_errors(file, lambda: "its footer"), _open_parquet(file) as parquet:
            return header_of(parquet.schema_arrow)

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        """What cells of some columns look like, as far as that says how they are read."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, in Arrow's record batches."""
        done = 0
        with (
            read_errors(file, lambda: f"row group {_broken_group(file, stored, done, self.group)}"),
            _open_parquet(file) as parquet,
        ):
            groups = _groups(parquet, self.group)
            for batch in parquet.iter_batches(n_rows, columns=list(stored), row_groups=groups):
                yield batch
                done += batch.num_rows
            promised = sum(parquet.metadata.row_group(group).num_rows for group in groups)
            if done != promised:
                raise DataError(
                    f"{file.name} says that it has {promised} rows, but {done} can be read. Write "
                    "it again, or leave it out."
                )

    def parts(self, file: Path) -> list[Part]:
        """The row groups."""
        with read_errors(file, lambda: "its footer"), _open_parquet(file) as parquet:
            sizes = {
                g: parquet.metadata.row_group(g).num_rows for g in _groups(parquet, self.group)
            }
            return [Part(Parquet(group), n, f"row group {group}") for group, n in sizes.items()]


def _open_parquet(file: Path) -> Any:
    return pyarrow.parquet.ParquetFile(
        file, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
    )


def _groups(parquet: Any, group: int | None) -> list[int]:
    return list(range(parquet.num_row_groups)) if group is None else [group]


def _broken_group(file: Path, stored: tuple[str, ...], done: int, only: int | None) -> int:
    """Which row group cannot be read, if ``done`` rows could be."""
    with _open_parquet(file) as parquet:
        groups = _groups(parquet, only)
        for group in groups:
            done -= parquet.metadata.row_group(group).num_rows
            if done >= 0:
                continue
            try:
                for _ in parquet.iter_batches(columns=list(stored), row_groups=[group]):
                    pass
            except Exception:
                return group
        return groups[-1]
