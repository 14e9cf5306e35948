"""From what users hand over as a sparse matrix to rows with gaps."""

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from halfseen.core.arrays import Array
from halfseen.core.errors import DataError
from halfseen.engines.sparse import SparseRows
from halfseen.estimators.observed_blocks import ObservedBlocks
from halfseen.estimators.table import feature_names


def read_sparse(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    observed: ObservedBlocks | None = None,
    weights: Array | None = None,
    **engine: Any,
) -> SparseRows:
    """The rows of a SciPy sparse matrix, in which stored NaNs and blocks not seen are gaps."""
    matrix = validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False
    )
    if matrix.dtype.kind not in "iufb":
        raise DataError(f"A sparse matrix of {matrix.dtype} cannot be read as numbers.")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # not the user's own
        matrix.sum_duplicates()
    if matrix.dtype.kind == "b":
        matrix = matrix.astype(float)
    blocks = () if observed is None else observed.arrays(*matrix.shape)
    if blocks:
        _check_nothing_stored_in_gaps(matrix, *blocks)
    if weights is not None:
        matrix, weights, blocks = _counted(matrix, weights, blocks)
    return SparseRows.of(matrix, feature_names(estimator), *blocks, weights=weights, **engine)


def _counted(matrix: Any, weights: Array, blocks: Any) -> Any:
    """Only the rows of some weight."""
    counted = weights > 0
    if blocks:
        blocks = (blocks[0], blocks[1][counted])
    return matrix[counted], weights[counted], blocks


def _check_nothing_stored_in_gaps(matrix: Any, column_block: Any, row_observed: Any) -> None:
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    wrong = ~row_observed[rows, column_block[matrix.indices]] & (matrix.data != 0)
    wrong &= ~np.isnan(matrix.data)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        column = int(matrix.indices[first])
        raise DataError(
            f"Row {rows[first]} holds {matrix.data[first]:g} in column {column}, but row_observed "
            f"says that it does not have block {column_block[column]}. Mark the block as observed, "
            "or remove the count."
        )
