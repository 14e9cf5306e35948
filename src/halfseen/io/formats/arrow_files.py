"""Tables of Arrow: files and streams (Feather too), Parquet, and whatever lies in memory.

Files are not mapped into memory: one that is cut short while it is read would kill the process.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet

from halfseen.data.errors import DataError
from halfseen.io.containers import as_frame
from halfseen.io.formats.format import (
    Format,
    Header,
    Part,
    header_of,
    read_errors,
)

MAGIC = b"ARROW1"
"""How files begin; streams do not."""


class ArrowFile(Format):
    """Rows by record batch, each of which is in memory as a whole."""

    def header(self, file: Path) -> Header:
        with read_errors(file, lambda: "its footer"), _open_arrow(file) as arrow:
            return header_of(arrow.schema)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        number = 0
        with (
            read_errors(file, lambda: f"record batch {number}"),
            _open_arrow(file, stored) as arrow,
        ):
            for batch in _batches(arrow):
                batch.validate(full=True)  # offsets too, which compiled code would follow anywhere
                yield batch
                number += 1


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
class Parquet(Format):
    """Rows by row group."""

    group: int | None = None  # the only one that is read

    def header(self, file: Path) -> Header:
        with read_errors(file, lambda: "its footer"), _open_parquet(file) as parquet:
            return header_of(parquet.schema_arrow)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
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
    """The row group that cannot be read after ``done`` rows."""
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


@dataclass(frozen=True, eq=False)
class MemoryTables(Format):
    """Rows of one or several tables in memory."""

    give: Callable[[], Iterator[Any]]  # Arrow tables, the same ones each time
    delayed: tuple[Any, ...] = ()  # what Dask computes each of them from, if it does

    @classmethod
    def of(cls, table: Any) -> Self:
        """The rows of one data frame, of any library."""
        return cls(partial(_once, as_arrow(table)))

    def header(self, file: Path) -> Header:
        for table in self.give():
            return header_of(table.schema)
        raise DataError(f"{file.name} holds no batches. Give at least one.")

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        for number, table in enumerate(self.give()):
            lacking = [name for name in stored if name not in table.column_names]
            if lacking:
                raise DataError(
                    f"Batch {number} of {file.name} has no column '{lacking[0]}', but batch 0 has. "
                    "Batches of one table need the same columns."
                )
            yield from table.select(list(stored)).combine_chunks().to_batches(n_rows)

    def parts(self, file: Path) -> list[Part]:
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
