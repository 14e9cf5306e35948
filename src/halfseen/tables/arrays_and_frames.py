"""From what users hand over to a table of floats in which NaN marks the gaps."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from halfseen.rows.arrays import Array
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.engines.sparse.rows import SparseRows
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.rows.rows import Block
from halfseen.tables.as_given import as_given, holds_dates, without_dictionaries
from halfseen.tables.batches import Batch
from halfseen.tables.column_order import column_names, in_fitted_order


def read_table(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    """The float table (n, d) to learn from, of an array or a data frame; float32 stays as it is."""
    return _floats(estimator, X, reset=True)


def read_more(estimator: Any, X: Any, *, first: bool) -> np.ndarray[Any, Any]:
    """A batch of rows to learn from; all but the first must have the first's columns."""
    return _floats(estimator, X, reset=first)


def read_new_table(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    """A float table (n, d) for a fitted estimator."""
    check_is_fitted(estimator)
    return _floats(estimator, in_fitted_order(estimator, X), reset=False)


class AnyColumns(BaseEstimator):
    """Hears what the columns of one batch are called."""


def read_batch(X: Any) -> Batch:
    """Some rows of a table, of an array, a data frame or an Arrow batch; there may be none."""
    columns = AnyColumns()
    table = _floats(columns, as_table(X), reset=True, fewest_rows=0)
    names = getattr(columns, "feature_names_in_", None)
    return Batch(table, None if names is None else tuple(names))


def as_table(X: Any) -> Any:
    """One of Arrow's batches as a table, which scikit-learn knows to have names."""
    arrow = sys.modules.get("pyarrow")
    return arrow.Table.from_batches([X]) if arrow and isinstance(X, arrow.RecordBatch) else X


def _floats(estimator: Any, X: Any, *, reset: bool, fewest_rows: int = 1) -> np.ndarray[Any, Any]:
    X = without_dictionaries(as_given(X))
    try:
        if holds_dates(X):
            raise TypeError("dates are no numbers")
        if reset:
            vars(estimator).pop("_words_given", None)  # of an earlier fit
        with _words_beside() if hasattr(estimator, "_words_given") else nullcontext():
            table: np.ndarray[Any, Any] = validate_data(
                estimator,
                X,
                reset=reset,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=fewest_rows,
            )
    except OverflowError as error:
        raise DataError(
            "The table holds a whole number that is too large for a float. Leave out identifiers, "
            "and write amounts in a larger unit."
        ) from error
    except (TypeError, ValueError) as error:
        names = not_numbers(X)
        if not names:
            raise
        raise DataError(
            f"{quoted(names, range(len(names)))} cannot be read as numbers. Leave out columns of "
            "text and dates, or code them as numbers."
        ) from error
    return table


@contextmanager
def _words_beside() -> Iterator[None]:
    """Columns that were named by words beside a table, as they are in others without names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def not_numbers(X: Any) -> list[str]:
    """The columns of a data frame that do not hold numbers."""
    return [str(name) for name in column_names(X) if not _is_numeric(X[name])]


def _is_numeric(column: Any) -> bool:
    if str(getattr(column, "dtype", "")).startswith("str"):  # whose gaps are no NaN in a frame
        return _all_numbers(column)
    try:
        np.asarray(column, dtype=float)
    except (TypeError, ValueError):
        return False
    return np.asarray(column).dtype.kind not in "mM"  # dates are numbers only to computers


def _all_numbers(texts: Any) -> bool:
    """Whether all texts are there, and are numbers."""
    try:
        return bool(np.isfinite(np.asarray(texts, dtype=float)).all())
    except (TypeError, ValueError):
        return False


def feature_names(estimator: Any) -> tuple[str, ...]:
    """The columns' names, or their numbers where they have none."""
    names = getattr(estimator, "feature_names_in_", range(estimator.n_features_in_))
    return tuple(str(name) for name in names)


def in_memory(table: np.ndarray[Any, Any]) -> MemoryRows:
    """The rows of a table (n, d)."""
    return MemoryRows(table, tuple(map(str, range(table.shape[1]))))


def row_by_row(rows: MemoryRows | SparseRows, function: Callable[[Block], Array]) -> Array:
    """``function`` of all rows, a block at a time, so that what it needs stays small."""
    return np.concatenate([function(block) for block in rows.blocks()])
