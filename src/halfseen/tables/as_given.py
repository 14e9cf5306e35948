"""What users hand over, before scikit-learn sees it: what it would misread or not explain."""

import sys
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.column_order import column_names, repeated

NO_DATES = "Leave out dates and times, or turn them into numbers such as days since a start."

NO_COMPLEX = "Complex data not supported."  # in scikit-learn's words, without the table itself


def as_given(X: Any) -> Any:
    """``X`` with NaN for what is masked; refused if it is not a table of numbers in memory."""
    masked = _masked(X)
    if masked is not None:
        return _opened(masked)
    if isinstance(X, np.ndarray):
        _check_numbers(X)
        return X
    _check_frame(X)
    if isinstance(X, list | tuple):
        _check_numbers(_array(X))
    return X


def without_dictionaries(X: Any) -> Any:
    """An Arrow table whose columns hold values and not their places among those that there are.

    As an array, a gap among places would be the last of the values.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is None or not isinstance(X, arrow.Table):
        return X
    for place, field in enumerate(X.schema):
        if arrow.types.is_dictionary(field.type):
            values = X.column(place).cast(field.type.value_type)
            X = X.set_column(place, field.name, values)
    return X


def _masked(X: Any) -> Any:
    """A masked array, also if it is given row by row; None if nothing can be masked."""
    if isinstance(X, np.ma.MaskedArray):
        return X
    by_rows = isinstance(X, list | tuple) and any(isinstance(x, np.ma.MaskedArray) for x in X)
    return np.ma.array(list(X)) if by_rows else None


def _opened(X: Any) -> np.ndarray[Any, Any]:
    """A masked array as floats, NaN where it is masked."""
    _check_numbers(X.data)
    if X.dtype.kind not in "biuf":
        return np.asarray(X.astype(object).filled(np.nan))
    single = X.dtype.kind == "f" and X.dtype.itemsize <= 4
    return np.asarray(X.astype(np.float32 if single else np.float64).filled(np.nan))


def _check_numbers(X: np.ndarray[Any, Any] | None) -> None:
    if X is not None and X.dtype.kind == "c":
        raise DataError(
            f"{NO_COMPLEX} The table holds {X.dtype}. Give the parts of each as columns."
        )
    if X is not None and X.dtype.kind in "mM":
        raise DataError(f"The table holds {X.dtype}, not numbers. {NO_DATES}")


def _array(X: Any) -> np.ndarray[Any, Any] | None:
    try:
        return np.asarray(X)
    except (TypeError, ValueError, OverflowError):
        return None  # which scikit-learn refuses


def _check_frame(X: Any) -> None:
    """Refuse frames that are not in memory, have a name twice, or hold dates."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        twice = repeated(column_names(X))
        raise DataError(
            f"The data frame has several columns named {quoted(twice, range(len(twice)))}. Give "
            "each its own name."
        ) from error
    if isinstance(frame, nw.LazyFrame):
        raise DataError(
            f"A {type(X).__name__} holds no rows yet, and a fit goes through them several times. "
            "Call its collect() first, or write it to a Parquet file and give that."
        )


def holds_dates(X: Any) -> bool:
    """Whether a column of a data frame holds dates or times, which NumPy would take for numbers."""
    frame = nw.from_native(X, pass_through=True)
    kinds = frame.schema.values() if isinstance(frame, nw.DataFrame) else ()
    return any(kind.is_temporal() for kind in kinds)
