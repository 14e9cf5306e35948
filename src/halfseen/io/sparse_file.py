"""Sparse matrices in files: what SciPy's save_npz writes, and Matrix Market."""

import gzip
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mminfo, mmread
from scipy.sparse import csr_array, issparse, load_npz

from halfseen.data.arrays import Mask
from halfseen.data.engines.batched import Piece
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.columns import Column
from halfseen.io.file_source import FileSource
from halfseen.io.files import Files
from halfseen.io.formats.format import check_size
from halfseen.io.formats.numpy_file import is_sparse
from halfseen.io.sparse_matrix import ObservedBlocks, canonical_csr, check_sparse
from halfseen.io.text import vocabulary_of

MARKETS = (".mtx", ".mtx.gz")
NOT_CONTROL = bytes([*b"\t\n\r", *range(32, 127), *range(128, 256)])
"""Bytes that text has, in whatever encoding."""
FEW_BYTES, CUT_SHORT = 8, re.compile(rb"[eE][+-]?\Z")
"""Of the end of a file, and how it looks if a number was cut short there."""
FEWEST_BYTES, MOST_COMPRESSED = 2, 1100
"""Of a value in Matrix Market, and how much gzip may make of a byte."""


def is_sparse_file(path: Path) -> bool:
    """Whether a file holds a sparse matrix."""
    return path.is_file() and (_is_market(path) or is_sparse(path))


def read_sparse_file(path: Path) -> Any:
    """The matrix in a file, in compressed rows."""
    try:
        found = check_sparse(_read(path), path.name)
        return check_sparse(csr_array(found), path.name)
    except (DataError, MemoryError):
        raise
    # Readers of damaged bytes raise whatever the bytes make them do.
    except Exception as error:
        if isinstance(error, PermissionError):
            raise
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(
            f"{path.name} cannot be read as a sparse matrix: {reason}. Write it again."
        ) from error


def _read(path: Path) -> Any:
    if not _is_market(path):
        return load_npz(path) if _has_format(path) else _compressed_rows(path)
    try:
        _check_text(path)
        _check_promise(path)
        found = mmread(path)
    except OverflowError as error:
        raise DataError(
            f"{path.name} holds whole numbers that are too large for 64 bits ({error}). Write "
            "'real' in place of 'integer' in its first line, or the numbers in a larger unit."
        ) from error
    return found if issparse(found) else csr_array(found)


@dataclass(frozen=True, eq=False)
class SparseSource:
    """The rows of a sparse matrix, written out a few at a time for whoever asks for all cells."""

    matrix: Any  # (n, d), compressed rows
    names: tuple[str, ...]  # words of a vocabulary, or numbers
    named: bool = False
    notes: tuple[str, ...] = ()
    known: Mask | None = None  # (n,)  rows that are not missing as a whole; None if none is
    beside: FileSource | None = None  # the file that counts are of, if it has other columns

    @property
    def observed(self) -> ObservedBlocks | None:
        """Which rows there are, if some are missing."""
        if self.known is None:
            return None
        return ObservedBlocks(np.zeros(len(self.names), int), self.known[:, None])

    @property
    def all_names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return self.names

    def rows(self) -> SparseRows:
        """The rows with nothing written out, for whoever can do with what is stored."""
        observed = self.observed
        blocks = () if observed is None else observed.arrays(*self.matrix.shape)
        return SparseRows.of(canonical_csr(self.matrix), self.names, *blocks)

    @property
    def columns(self) -> tuple[Column, ...]:
        """All of them are used."""
        return tuple(Column(name, "continuous", True) for name in self.names)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.matrix.shape[0])

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""
        for start in range(0, self.n_rows, n_rows):
            part = self.matrix[start : start + n_rows]
            yield Piece(part.shape[0], partial(_written_out, part, chosen))


def open_sparse_file(given: Files) -> SparseSource:
    """The matrix of a file, with the columns, names and gaps that are asked for."""
    path = given.single
    matrix = read_sparse_file(path)
    words, notes = vocabulary_of(path, matrix.shape[1], given.vocabulary)
    names = words or tuple(map(str, range(matrix.shape[1])))
    dropped = set(map(str, given.drop))
    if given.columns is not None or dropped:
        asked = names if given.columns is None else tuple(map(str, given.columns))
        wanted = tuple(name for name in asked if name not in dropped)
        matrix, names = _chosen(path, matrix, names, wanted), wanted
    codes = MissingCodes(given.gap_codes).codes
    if codes:
        stored = np.where(np.isin(matrix.data, codes), np.nan, matrix.data)
        matrix = csr_array((stored, matrix.indices, matrix.indptr), shape=matrix.shape)
    return SparseSource(matrix, names, words is not None, notes)


def _chosen(path: Path, matrix: Any, names: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
    """The columns of a matrix that are called so, in that order."""
    if wanted == names:
        return matrix
    place = {name: number for number, name in enumerate(names)}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        raise DataError(
            f"{path.name} has no column {quoted(unknown, range(len(unknown)))}. It has "
            f"{quoted(names, range(len(names)))}."
        )
    return csr_array(matrix[:, [place[name] for name in wanted]])


def _check_text(path: Path) -> None:
    """Refuse bytes that no text has, and a number cut short: SciPy's reader dies of them."""
    start, last = 0, b""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while part := file.read(1 << 20):
            odd = part.translate(None, NOT_CONTROL)
            if odd:
                raise DataError(
                    f"{path.name} cannot be read as a sparse matrix: it holds the byte "
                    f"0x{odd[0]:02x} at byte {start + part.index(odd[:1]):,}, and is no text. "
                    "Write it again."
                )
            start, last = start + len(part), (last + part)[-FEW_BYTES:]
    if CUT_SHORT.search(last):
        raise DataError(
            f"{path.name} cannot be read as a sparse matrix: it ends within a number, after "
            f"{start:,} bytes. Write it again."
        )


def _check_promise(path: Path) -> None:
    """Refuse what would be made room for before it is seen that it is not there."""
    n_rows, n_columns, n_stored, *_ = mminfo(path)
    check_size(path.name, n_rows, n_columns)
    size = path.stat().st_size * (MOST_COMPRESSED if path.suffix == ".gz" else 1)
    if n_stored * FEWEST_BYTES > size:
        raise DataError(
            f"{path.name} cannot be read as a sparse matrix: it says that it holds {n_stored:,} "
            f"values, for which its {path.stat().st_size:,} bytes are too few. Write it again."
        )


def _written_out(part: Any, chosen: tuple[int, ...]) -> np.ndarray[Any, Any]:
    dense = np.asarray(part.toarray(), dtype=float)
    return dense if len(chosen) == dense.shape[1] else dense[:, list(chosen)]


def _has_format(path: Path) -> bool:
    with zipfile.ZipFile(path) as archive:
        return "format.npy" in archive.namelist()


def _compressed_rows(path: Path) -> Any:
    """Arrays of compressed rows that somebody saved by their names, without SciPy."""
    with np.load(path, allow_pickle=False) as arrays:
        values, places, starts = (arrays[name] for name in ("data", "indices", "indptr"))
        shape = tuple(int(side) for side in arrays["shape"])
    bare = csr_array(shape, dtype=values.dtype)
    bare.data, bare.indices, bare.indptr = values, places, starts  # which sound() looks at
    return bare


def _is_market(path: Path) -> bool:
    return path.name.endswith(MARKETS)
