"""Sparse matrices in files: what SciPy's save_npz writes, and Matrix Market."""

from pathlib import Path
from typing import Any

from scipy.io import mmread
from scipy.sparse import csr_array, load_npz

from halfseen.rows.errors import DataError
from halfseen.tables.formats.numpy_file import is_sparse

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


def _is_market(path: Path) -> bool:
    return path.name.endswith(MARKETS)
