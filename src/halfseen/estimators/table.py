"""From what users hand over to a table of floats in which NaN marks the gaps."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from halfseen.core.arrays import Array
from halfseen.core.rows import Block
from halfseen.engines.memory import MemoryRows


def read_table(estimator: Any, X: Any, *, reset: bool) -> np.ndarray[Any, Any]:
    """A float table (n, d) from an array or a data frame; float32 stays as it is."""
    table: np.ndarray[Any, Any] = validate_data(
        estimator, X, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False
    )
    return table


def feature_names(estimator: Any) -> tuple[str, ...]:
    """The columns' names, or their numbers where they have none."""
    names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
    return tuple(str(name) for name in names)


def row_by_row(table: np.ndarray[Any, Any], function: Callable[[Block], Array]) -> Array:
    """``function`` of all rows, a block at a time, so that what it needs stays small."""
    rows = MemoryRows(table, tuple(map(str, range(table.shape[1]))))
    return np.concatenate([function(block) for block in rows.blocks()])
