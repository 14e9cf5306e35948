"""Sparse matrices in files: what SciPy's save_npz writes, and Matrix Market."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array, load_npz

from halfseen.rows.engines.batched import Piece
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.files import Files
from halfseen.tables.formats.numpy_file import is_sparse
from halfseen.tables.kinds import Column

MARKETS = (".mtx", ".mtx.gz")


def is_sparse_file(path: Path) -> bool:
    """Whether a file holds a sparse matrix."""
    return path.is_file() and (_is_market(path) or is_sparse(path))


def read_sparse_file(path: Path) -> Any:
    """The matrix in a file, in compressed rows."""
    try:
        return csr_array(mmread(path) if _is_market(path) else load_npz(path))
    except (OSError, ValueError, EOFError, AttributeError) as error:
        raise DataError(
            f"{path.name} cannot be read as a sparse matrix: {error}. Write it again."
        ) from error


@dataclass(frozen=True, eq=False)
class SparseSource:
    """The rows of a sparse matrix, written out a few at a time for whoever asks for all cells."""

    named: ClassVar[bool] = False
    matrix: Any  # (n, d), compressed rows
    names: tuple[str, ...]

    @property
    def all_names(self) -> tuple[str, ...]:
        """The numbers of the columns."""
        return self.names

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
    """The matrix of a file, with the columns and gaps that are asked for."""
    matrix = read_sparse_file(Path(given.path))
    names = tuple(map(str, range(matrix.shape[1])))
    if given.columns is not None:
        wanted = tuple(map(str, given.columns))
        unknown = [name for name in wanted if name not in set(names)]
        if unknown:
            raise DataError(
                f"{Path(given.path).name} has no column {quoted(unknown, range(len(unknown)))}. It "
                f"has {quoted(names, range(len(names)))}."
            )
        matrix, names = csr_array(matrix[:, list(map(int, wanted))]), wanted
    codes = Gaps(tuple(given.missing_values)).codes
    if codes:
        stored = np.where(np.isin(matrix.data, codes), np.nan, matrix.data)
        matrix = csr_array((stored, matrix.indices, matrix.indptr), shape=matrix.shape)
    return SparseSource(matrix, names)


def _written_out(part: Any, chosen: tuple[int, ...]) -> np.ndarray[Any, Any]:
    dense = np.asarray(part.toarray(), dtype=float)
    return dense if len(chosen) == dense.shape[1] else dense[:, list(chosen)]


def _is_market(path: Path) -> bool:
    return path.name.endswith(MARKETS)
