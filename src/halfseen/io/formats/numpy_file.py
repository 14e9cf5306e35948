"""NumPy's files: one array (``.npy``), or the one table in an archive of arrays (``.npz``).

Rows are read with plain reads. A mapped file that is cut short while it is read would kill the
process, and pages of it would count as memory of ours.
"""

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.formats.format import (
    Field,
    FileEvidence,
    Format,
    Header,
    ReadPlan,
    check_width,
    read_errors,
)

SPARSE = {"format.npy", "shape.npy", "data.npy"}
"""What ``scipy.sparse.save_npz`` writes, among other arrays."""
COMPRESSED_ROWS = {"data.npy", "indices.npy", "indptr.npy", "shape.npy"}
"""The same of people who save the arrays of a CSR matrix themselves."""


class _Layout(NamedTuple):
    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class NumpyFile(Format):
    """Rows of an array with two dimensions; columns have numbers for names."""

    opened: Callable[[Path], AbstractContextManager[IO[bytes]]]

    def header(self, file: Path) -> Header:
        with read_errors(file, lambda: "its header"), self.opened(file) as stream:
            layout = _layout(stream)
        if len(layout.shape) != 2:
            raise DataError(
                f"{file.name} holds an array of shape {layout.shape}. Save a table, with rows and "
                "columns."
            )
        if layout.dtype.kind not in "biuf":
            raise DataError(
                f"{file.name} holds an array of {layout.dtype}, which cannot be read as numbers. "
                "Save a table of numbers."
            )
        check_width(file.name, layout.shape[1])
        numbers = map(str, range(layout.shape[1]))
        return Header(tuple(Field(number, number) for number in numbers), named=False)

    def look(
        self, file: Path, header: Header, stored: tuple[str, ...], gaps: MissingCodes
    ) -> FileEvidence:
        return FileEvidence(None, dict.fromkeys(stored, CellSums()))

    def pieces(self, file: Path, wanted: ReadPlan, n_rows: int) -> Iterator[Piece]:
        columns, start = list(map(int, wanted.stored)), 0
        with read_errors(file, lambda: f"row {start}"), self.opened(file) as stream:
            layout = _layout(stream)
            tables = _by_columns if layout.by_columns else _by_rows
            for table in tables(stream, layout, columns, n_rows):
                yield Piece(len(table), partial(_floats, table, wanted))
                start += len(table)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        raise DataError(f"The columns of {file.name} have no names.")


def open_npy(file: Path) -> AbstractContextManager[IO[bytes]]:
    """The bytes of a ``.npy`` file."""
    return open(file, "rb")


@contextmanager
def open_npz(file: Path) -> Iterator[IO[bytes]]:
    """The bytes of the only array of a ``.npz`` file that has two dimensions."""
    with zipfile.ZipFile(file) as archive:
        members = archive.namelist()
        if _sparse_among(members):
            raise DataError(
                f"{file.name} holds a sparse matrix, which is for counts and is read as a whole: "
                "give its path alone."
            )
        tables = [member for member in members if _n_dimensions(archive, member) == 2]
        if len(tables) != 1:
            every = quoted(members) if members else "no arrays"
            raise DataError(
                f"{file.name} should hold one table, an array with rows and columns, but it holds "
                f"{len(tables)} ({every}). Save the table on its own."
            )
        with archive.open(tables[0]) as stream:
            yield stream


def is_sparse(file: Path) -> bool:
    """Whether a file holds the arrays of a sparse matrix, as SciPy saves them or by hand."""
    if file.suffix != ".npz" or not zipfile.is_zipfile(file):
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return _sparse_among(archive.namelist())
    # Damaged bytes raise whatever they do, and whoever reads the table says where they are.
    except Exception:
        return False


def _sparse_among(members: list[str]) -> bool:
    return set(members) >= SPARSE or set(members) >= COMPRESSED_ROWS


def _n_dimensions(archive: zipfile.ZipFile, member: str) -> int:
    with archive.open(member) as stream:
        return len(_layout(stream).shape)


def _layout(stream: IO[bytes]) -> _Layout:
    version = np.lib.format.read_magic(stream)
    first = version == (1, 0)
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    return _Layout(*read(stream))


def _by_rows(
    stream: IO[bytes], layout: _Layout, columns: list[int], n_rows: int
) -> Iterator[np.ndarray[Any, Any]]:
    n, d = layout.shape
    step = max(n_rows * len(columns) // d, 1)  # columns that are not chosen are read too
    for start in range(0, n, step):
        rows = min(step, n - start)
        yield _numbers(stream, rows * d, layout.dtype).reshape(rows, d)[:, columns]


def _by_columns(
    stream: IO[bytes], layout: _Layout, columns: list[int], n_rows: int
) -> Iterator[np.ndarray[Any, Any]]:
    n, _ = layout.shape
    with _seekable(stream) as bytes_of_columns:
        first = bytes_of_columns.tell()
        for start in range(0, n, n_rows):
            table = np.empty((min(n_rows, n - start), len(columns)), layout.dtype, order="F")
            for place, column in enumerate(columns):
                bytes_of_columns.seek(first + (column * n + start) * layout.dtype.itemsize)
                table[:, place] = _numbers(bytes_of_columns, len(table), layout.dtype)
            yield table


@contextmanager
def _seekable(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """A stream that can be read at any place: an archive's is unpacked to disk first."""
    if not isinstance(stream, zipfile.ZipExtFile):
        yield stream
        return
    with tempfile.TemporaryFile() as unpacked:
        shutil.copyfileobj(stream, unpacked)
        unpacked.seek(0)
        yield unpacked


def _numbers(stream: IO[bytes], count: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    content = stream.read(count * dtype.itemsize)
    if len(content) < count * dtype.itemsize:
        raise EOFError("it ends too early")
    return np.frombuffer(content, dtype)


def _floats(table: np.ndarray[Any, Any], wanted: ReadPlan) -> np.ndarray[Any, Any]:
    single, gaps = table.dtype == np.float32, wanted.gaps
    values = gaps.opened(table.astype(np.float32 if single else np.float64, copy=False))
    own = {name for name, _ in gaps.by_column}
    for place, name in enumerate(wanted.stored):
        if name in own:
            values = values.copy()
            values[:, place] = gaps.of(name).opened(values[:, place])
    return values
