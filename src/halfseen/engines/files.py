"""Rows of files on disk, read a batch at a time: Parquet, Arrow or Feather, and CSV.

A file or a folder of files of one kind. Only the columns that are needed are read.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from halfseen.core.arrays import Array, Mask
from halfseen.core.errors import DataError
from halfseen.core.naming import quoted
from halfseen.core.rows import Block, S
from halfseen.engines.blocks import Told, nobody, sum_over

BATCH_ENTRIES = 1 << 20  # eight megabytes of doubles at a time, for each thread
FORMATS = {
    ".parquet": "parquet",
    ".arrow": "ipc",
    ".feather": "feather",
    ".csv": "csv",
}


@dataclass(frozen=True, eq=False)
class FileRows:
    """A table in files, of which only a few batches are in memory at any time."""

    sparse: ClassVar[bool] = False
    files: tuple[Path, ...]
    names: tuple[str, ...]
    stamps: tuple[tuple[int, int], ...]  # size and time of change of each file
    n_threads: int = 1
    advance: Told = field(default=nobody)
    origin: Array | None = None  # (d,)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features; the others are not read."""
        names = tuple(name for name, keep in zip(self.names, features, strict=True) if keep)
        origin = None if self.origin is None else self.origin[features]
        return replace(self, names=names, origin=origin)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, origin=origin if self.origin is None else self.origin + origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all batches of rows."""
        return sum_over(self.blocks(), summarise, self.n_threads, self.advance)

    def blocks(self) -> Iterator[Block]:
        """The rows in order, a batch at a time; one empty block if there are none."""
        start = 0
        for file, stamp in zip(self.files, self.stamps, strict=True):
            if _stamp(file) != stamp:
                raise DataError(f"{file.name} changed while it was being read. Fit again.")
            for table in self._tables(file):
                block = Block.from_table(table, None, start)
                start += len(table)
                if self.origin is not None:
                    block = replace(block, values=block.about(self.origin))
                yield block
        if not start:
            yield Block.from_table(np.empty((0, len(self.names))))

    def _tables(self, file: Path) -> Iterator[np.ndarray[Any, Any]]:
        import pyarrow as pa

        number = 0
        size = max(BATCH_ENTRIES // max(len(self.names), 1), 1)
        try:
            fragments = _dataset(file).get_fragments()
            for fragment in fragments:
                # Reading far ahead of what is summed would fill the memory.
                batches = fragment.to_batches(
                    columns=list(self.names),
                    batch_size=size,
                    batch_readahead=2,
                    fragment_readahead=1,
                )
                for batch in batches:
                    if batch.num_rows:
                        yield np.column_stack([_floats(column) for column in batch.columns])
                    number += 1
        except (OSError, pa.ArrowException) as error:
            raise DataError(
                f"{file.name} cannot be read at batch {number}: {error}. Write it again, or leave "
                "it out of the folder."
            ) from error


def open_files(path: str | Path, n_threads: int = 1, advance: Told = nobody) -> FileRows:
    """The rows of a file, or of all files of one kind in a folder."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Reading files needs pyarrow. Install it with: pip install 'halfseen[io]'"
        ) from missing
    files = _files_of(Path(path))
    try:
        schemas = [_dataset(file).schema for file in files]
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    names = tuple(schemas[0].names)
    for file, schema in zip(files, schemas, strict=True):
        if tuple(schema.names) != names:
            raise DataError(
                f"{file.name} has other columns than {files[0].name}. Files of one table need the "
                "same columns in the same order."
            )
    text = [i for i, kind in enumerate(schemas[0].types) if not _is_number(kind)]
    if text:
        raise DataError(
            f"{quoted(names, text)} cannot be read as numbers. Leave out columns of text and "
            "dates, or code them as numbers."
        )
    return FileRows(files, names, tuple(map(_stamp, files)), n_threads, advance)


def _files_of(path: Path) -> tuple[Path, ...]:
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    listed = sorted(path.iterdir()) if path.is_dir() else [path]
    files = tuple(file for file in listed if file.suffix in FORMATS)
    if not files:
        raise DataError(f"{path} holds no file that ends in {', '.join(FORMATS)}.")
    return files


def _dataset(file: Path) -> Any:
    import pyarrow.dataset

    return pyarrow.dataset.dataset(file, format=FORMATS[file.suffix])


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_null(kind)
    )


def _floats(column: Any) -> np.ndarray[Any, Any]:
    """A column as floats, nulls as NaN; float32 stays as it is."""
    from pyarrow import float32, float64

    if column.type != float32():
        column = column.cast(float64())
    values: np.ndarray[Any, Any] = column.to_numpy(zero_copy_only=False)
    return values
