"""Tables in memory, read as files are: so that tables of both sorts can be one."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

from halfseen.rows.engines.batched import Piece
from halfseen.rows.errors import DataError
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.containers import as_frame
from halfseen.tables.formats.arrow_columns import header_of, look_through, pieces_of
from halfseen.tables.formats.format import Header, Look, Part, Reading


@dataclass(frozen=True, eq=False)
class Held:
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

    def look(self, file: Path, header: Header, stored: tuple[str, ...], gaps: Gaps) -> Look:
        """What cells of some columns look like."""
        return look_through(partial(self.batches, file), header, stored, gaps)

    def pieces(self, file: Path, wanted: Reading, n_rows: int) -> Iterator[Piece]:
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
    import pyarrow as pa

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
