"""From what users hand over as a sparse matrix to rows with gaps."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import validate_data

from halfseen.rows.arrays import Array
from halfseen.rows.engines.sparse.compressed import Compressed
from halfseen.rows.engines.sparse.kernels import in_missing_blocks
from halfseen.rows.engines.sparse.rows import SparseRows
from halfseen.rows.errors import DataError
from halfseen.tables.arrays_and_frames import feature_names
from halfseen.tables.observed_blocks import ObservedBlocks
from halfseen.tables.sparse_structure import canonical, sound


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
    given = sound(X)
    with warnings.catch_warnings():
        # That of a model that knows its columns by words: a sparse matrix never has any.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        matrix = validate_data(
            estimator, given, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False
        )
    matrix = canonical(matrix if matrix is given else sound(matrix))
    if words is not None:
        estimator.feature_names_in_ = np.array(words, dtype=object)
    blocks = () if observed is None else _checked(observed).arrays(*matrix.shape)
    if blocks:
        matrix = _without_gaps(matrix, *blocks)
    if weights is not None:
        matrix, weights, blocks = _counted(matrix, weights, blocks)
    return SparseRows.of(matrix, feature_names(estimator), *blocks, weights=weights, **engine)


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
    in_gaps = in_missing_blocks(matrix.indptr, matrix.indices, column_block, row_observed)
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
    kept = Compressed.of(matrix).where(~in_gaps)
    return csr_array((kept.values, kept.features, kept.starts), shape=matrix.shape)
