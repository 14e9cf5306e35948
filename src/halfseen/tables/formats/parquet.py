"""Parquet files, decoded a batch of rows at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from halfseen.rows.engines.batched import Piece
from halfseen.rows.errors import DataError
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.formats.arrow_columns import header_of, look_through, pieces_of
from halfseen.tables.formats.format import Header, Look, Part, Reading, reading

BUFFER = 1 << 18
"""Bytes of each column that are read at a time: a row group is never in memory as a whole."""


@dataclass(frozen=True)
class Parquet:
    """Rows by row group; batches go on from one to the next."""

    group: int | None = None  # the only one that is read

    def header(self, file: Path) -> Header:
        """The columns of a file."""
        with reading(file, lambda: "its footer"), _opened(file) as parquet:
            return header_of(parquet.schema_arrow)

    def look(self, file: Path, header: Header, stored: tuple[str, ...], gaps: Gaps) -> Look:
        """What cells of some columns look like, as far as that says how they are read."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: Reading, n_rows: int) -> Iterator[Piece]:
        """The rows of a file in order, columns as asked, at most ``n_rows`` rows at a time."""
        for batch in self.batches(file, tuple(wanted.stored), n_rows):
            yield from pieces_of(batch, wanted, n_rows)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        """The rows of a file in order, columns as they are, in Arrow's record batches."""
        done = 0
        with (
            reading(file, lambda: f"row group {_broken_group(file, stored, done, self.group)}"),
            _opened(file) as parquet,
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
        with reading(file, lambda: "its footer"), _opened(file) as parquet:
            sizes = {
                g: parquet.metadata.row_group(g).num_rows for g in _groups(parquet, self.group)
            }
            return [Part(Parquet(group), n, f"row group {group}") for group, n in sizes.items()]


def _opened(file: Path) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(
        file, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True
    )


def _groups(parquet: Any, group: int | None) -> list[int]:
    return list(range(parquet.num_row_groups)) if group is None else [group]


def _broken_group(file: Path, stored: tuple[str, ...], done: int, only: int | None) -> int:
    """Which row group cannot be read, if ``done`` rows could be."""
    with _opened(file) as parquet:
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
