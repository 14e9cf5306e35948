"""From what users hand over as a sparse matrix to rows with gaps."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.sparse_products import row_numbers, where
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError
from halfseen.io.formats.format import check_size
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
    """Only the rows of some weight."""
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
    """The matrix with nothing stored in blocks that rows do not have; a count there is refused."""
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
