"""Tables in which whole blocks of columns are seen or not."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Mask
from halfseen.rows.errors import DataError


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
