"""Sparse matrices in memory and in files (SciPy's and Matrix Market's) as rows with gaps."""

import gzip
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import mminfo, mmread
from scipy.sparse import csr_array, issparse, load_npz
from sklearn.utils.validation import validate_data

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.batched import Piece
from halfseen.data.engines.sparse_products import row_numbers, where
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.columns import Column
from halfseen.io.file_source import FileSource
from halfseen.io.files import Files
from halfseen.io.formats import MARKETS
from halfseen.io.formats.format import check_size
from halfseen.io.formats.numpy_file import is_sparse
from halfseen.io.text import vocabulary_of
from halfseen.io.validation import NO_COMPLEX, feature_names


@dataclass(frozen=True, eq=False)
class ObservedBlocks:
    """Which rows have which blocks of columns, so that no mask of all cells is needed.

    Parameters
    ----------
    column_block : array of shape (d,)
        The block of each column, numbered from 0.
    row_observed : array of shape (n, n_blocks)
        Whether each row has each block. Counts in a block that a row does not have are gaps, not
        zeros; none may be stored there.

    Examples
    --------
    Two words that every document was searched for, and two that half of them were:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from halfseen import GammaPoisson, ObservedBlocks
    >>> rng = np.random.default_rng(0)
    >>> topics = np.array([[0.5, 0.1, 0.4, 0.0], [0.0, 0.5, 0.1, 0.4]])
    >>> counts = rng.poisson(rng.gamma(1.0, 20.0, size=(5000, 2)) @ topics)
    >>> has = rng.random(5000) < 0.5
    >>> counts[~has, 2:] = 0
    >>> observed = ObservedBlocks([0, 0, 1, 1], np.column_stack([np.ones(5000, bool), has]))
    >>> model = GammaPoisson(2).fit(sparse.csr_array(counts), observed=observed)
    >>> model.observed_fraction_.round(1)
    array([1. , 1. , 0.5, 0.5])
    """

    column_block: Any
    row_observed: Any

    def arrays(self, n_rows: int, n_features: int) -> tuple[NDArray[np.intp], Mask]:
        """The block of each column (d,) and the blocks of each row (n, b), checked."""
        block, observed = np.asarray(self.column_block), np.asarray(self.row_observed)
        if observed.ndim != 2 or len(observed) != n_rows or observed.dtype != bool:
            raise DataError(
                f"row_observed must hold a truth value a row and block, {n_rows} rows. Got an "
                f"array of {observed.dtype} of shape {observed.shape} instead."
            )
        whole = block.dtype.kind in "iu" and block.shape == (n_features,)
        if not whole or block.min(initial=0) < 0 or block.max(initial=0) >= observed.shape[1]:
            raise DataError(
                f"column_block must hold a whole number from 0 to {observed.shape[1] - 1} for each "
                f"of the {n_features} columns, the blocks of row_observed. Got an array of "
                f"{block.dtype} of shape {block.shape}"
                + (f" from {block.min()} to {block.max()}." if whole and block.size else ".")
            )
        return block.astype(np.intp), observed


def check_no_blocks_on_dask(observed: Any) -> None:
    """Who has which block is known for rows in memory only."""
    if isinstance(observed, ObservedBlocks):
        raise ValueError(
            "observed=ObservedBlocks(…) goes with a sparse matrix in memory. In blocks of a "
            "dask.array, mark gaps with stored NaNs."
        )


def check_no_blocks(observed: ObservedBlocks | None) -> None:
    """Dense tables mark their gaps themselves."""
    if observed is not None:
        raise ValueError(
            "observed=ObservedBlocks(…) goes with a sparse matrix. In a dense table, mark gaps "
            "with NaN."
        )


def read_sparse(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    observed: ObservedBlocks | None = None,
    weights: Array | None = None,
    words: Sequence[str] | None = None,
    **engine: Any,
) -> SparseRows:
    """The rows of a SciPy sparse matrix, in which stored NaNs and blocks not seen are gaps.

    ``words`` are what its columns are called, if that is known.
    """
    given = check_sparse(X)
    with warnings.catch_warnings():
        # That of a model that knows its columns by words: a sparse matrix never has any.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        matrix = validate_data(
            estimator, given, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False
        )
    matrix = canonical_csr(matrix if matrix is given else check_sparse(matrix))
    blocks = () if observed is None else _checked(observed).arrays(*matrix.shape)
    if blocks:
        matrix = _without_gaps(matrix, *blocks)
    if weights is not None:
        matrix, weights, blocks = _counted(matrix, weights, blocks)
    names = feature_names(estimator) if words is None else tuple(words)
    return SparseRows.of(matrix, names, *blocks, weights=weights, **engine)


def _counted(matrix: Any, weights: Array, blocks: Any) -> Any:
    counted = weights > 0
    if blocks:
        blocks = (blocks[0], blocks[1][counted])
    return matrix[counted], weights[counted], blocks


def _checked(observed: Any) -> ObservedBlocks:
    if not isinstance(observed, ObservedBlocks):
        raise TypeError(
            "observed must be ObservedBlocks(column_block, row_observed). Got a "
            f"{type(observed).__name__} instead."
        )
    return observed


def _without_gaps(matrix: Any, column_block: Any, row_observed: Any) -> Any:
    """The matrix without what is stored in missing blocks; a count there is refused."""
    in_gaps = ~row_observed[row_numbers(matrix), column_block[matrix.indices]]
    if not in_gaps.any():
        return matrix
    wrong = in_gaps & (matrix.data != 0) & ~np.isnan(matrix.data)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
        column = int(matrix.indices[first])
        raise DataError(
            f"Row {row} holds {matrix.data[first]:g} in column {column}, but row_observed says "
            f"that it does not have block {column_block[column]}. Mark the block as observed, or "
            "remove the count."
        )
    return where(matrix, ~in_gaps)


NAME = "The sparse matrix"
COMPRESSED = {"csr": ("row", 0), "csc": ("column", 1), "bsr": ("row", 0)}
"""What the starts are of, and along which axis that is."""


def check_sparse(matrix: Any, name: str = NAME) -> Any:
    """The matrix, in the machine's byte order and without spare room; refused if it is broken."""
    if len(matrix.shape) != 2:
        raise DataError(f"{name} has shape {matrix.shape}. Give a table, with rows and columns.")
    check_size(name, *matrix.shape)
    if matrix.format in COMPRESSED:
        return _sound_compressed(matrix, name)
    if matrix.format == "coo":
        for axis, places in enumerate((matrix.row, matrix.col)):
            _check_places(name, places, matrix.shape[axis], ("row", "column")[axis])
        if not len(matrix.row) == len(matrix.col) == len(matrix.data):
            raise _broken(name, "it has not as many rows, columns and values")
    _check_numbers(name, matrix.dtype)
    return matrix


def canonical_csr(matrix: Any) -> Any:
    """Compressed rows with every entry once, as numbers that can be a gap; nobody's own copy."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # not the user's own
        matrix.sum_duplicates()
    if matrix.dtype.kind == "b" or matrix.dtype.itemsize > 8:
        matrix = matrix.astype(float)
    return matrix


def _sound_compressed(matrix: Any, name: str) -> Any:
    line, axis = COMPRESSED[matrix.format]
    sides = [
        n // b for n, b in zip(matrix.shape, getattr(matrix, "blocksize", (1, 1)), strict=True)
    ]
    starts, places = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    values = np.asarray(matrix.data)
    if starts.shape != (sides[axis] + 1,) or starts.dtype.kind not in "iu":
        raise _broken(name, f"its indptr is not one whole number a {line} and one more")
    if places.ndim != 1 or len(places) != len(values):
        raise _broken(name, f"it has {len(places):,} indices and {len(values):,} values")
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if starts[0] != 0 or len(falls):
        where = f"falls at {line} {falls[0]}" if len(falls) else f"begins with {starts[0]}"
        raise _broken(name, f"its indptr {where}, and should rise from 0")
    end = int(starts[-1])
    if end > len(places):
        raise _broken(name, f"its indptr ends with {end:,}, but it has {len(places):,} indices")
    other = ("column", "row")[axis]
    _check_places(name, places[:end], sides[1 - axis], other)
    _check_numbers(name, values.dtype)
    native = all(array.dtype.isnative for array in (starts, places, values))
    if native and end == len(places):
        return matrix
    arrays = (_native(values[:end]), _native(places[:end]), _native(starts))
    return type(matrix)(arrays, shape=matrix.shape)


def _check_places(name: str, places: Any, n: int, what: str) -> None:
    places = np.asarray(places)
    if places.dtype.kind not in "iu":
        raise _broken(name, f"its {what} numbers are {places.dtype} and not whole numbers")
    if not len(places):
        return
    low, high = int(places.min()), int(places.max())
    if low < 0 or high >= n:
        wrong = low if low < 0 else high
        raise _broken(name, f"it has an entry in {what} {wrong:,}, and {n:,} {what}s")


def _check_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise DataError(f"{NO_COMPLEX} {name} holds {dtype}. Give the parts of each as columns.")
    if dtype.kind not in "biuf":
        raise DataError(f"{name} holds {dtype}, not numbers. Store counts or measurements in it.")


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _broken(name: str, why: str) -> DataError:
    return DataError(f"{name} is broken: {why}. Make it again from what it was made of.")


TEXT_BYTES = bytes([*b"\t\n\r", *range(32, 127), *range(128, 256)])
"""Bytes that text has, in whatever encoding."""
TAIL_BYTES, CUT_NUMBER = 8, re.compile(rb"[eE][+-]?\Z")
"""Of the end of a file, and how it looks if a number was cut short there."""
MIN_BYTES_PER_VALUE, MAX_GZIP_RATIO = 2, 1100
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
    if wanted == names:
        return matrix
    place = {name: number for number, name in enumerate(names)}
    unknown = [name for name in wanted if name not in place]
    if unknown:
        raise DataError(f"{path.name} has no column {quoted(unknown)}. It has {quoted(names)}.")
    return csr_array(matrix[:, [place[name] for name in wanted]])


def _check_text(path: Path) -> None:
    """Refuse bytes that are no text, and numbers cut short: SciPy's reader crashes on them."""
    start, last = 0, b""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        while part := file.read(1 << 20):
            odd = part.translate(None, TEXT_BYTES)
            if odd:
                raise DataError(
                    f"{path.name} cannot be read as a sparse matrix: it holds the byte "
                    f"0x{odd[0]:02x} at byte {start + part.index(odd[:1]):,}, and is no text. "
                    "Write it again."
                )
            start, last = start + len(part), (last + part)[-TAIL_BYTES:]
    if CUT_NUMBER.search(last):
        raise DataError(
            f"{path.name} cannot be read as a sparse matrix: it ends within a number, after "
            f"{start:,} bytes. Write it again."
        )


def _check_promise(path: Path) -> None:
    """Refuse a header that promises more values than the file can hold."""
    n_rows, n_columns, n_stored, *_ = mminfo(path)
    check_size(path.name, n_rows, n_columns)
    size = path.stat().st_size * (MAX_GZIP_RATIO if path.suffix == ".gz" else 1)
    if n_stored * MIN_BYTES_PER_VALUE > size:
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
