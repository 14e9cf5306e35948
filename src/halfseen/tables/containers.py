"""Tables handed back in the container they came in."""

import copy
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array


def filled_like(X: Any, table: np.ndarray[Any, Any], values: Array) -> Any:
    """``X`` with its gaps filled from ``values`` (n, d); ``table`` is X as an array.

    What was observed is not touched. Columns and arrays of floats keep their type; columns of
    integers become floats where a gap was filled with something that is not a whole number.
    """
    gaps = np.isnan(table)
    if not gaps.any():
        return copy.deepcopy(X)
    library = type(X).__module__.partition(".")[0]
    return _FILL.get(library, _fill_array)(X, table, values, gaps)


def table_like(X: Any, values: Array) -> Any:
    """``values`` (n, d) with the rows' and columns' names of ``X``, if it has any."""
    library = type(X).__module__.partition(".")[0]
    return _WRAP[library](X, values) if library in _WRAP else values


def arrow_table(names: Sequence[str], values: Array) -> Any:
    """``values`` (n, d) under names, as an Arrow table."""
    import pyarrow as pa

    return pa.table([np.ascontiguousarray(column) for column in values.T], names=list(names))


def rows_of(X: Any, chosen: np.ndarray[Any, Any]) -> Any:
    """The rows of ``X`` with the given numbers."""
    library = type(X).__module__.partition(".")[0]
    return _TAKE.get(library, lambda X, chosen: X[chosen])(X, chosen)


def with_fractions(frame: Any) -> Any:
    """A pandas frame whose columns may all hold fractions, if they can have gaps at all.

    Whether a column of integers keeps its type when its gaps are filled is known only afterwards,
    and parts of one frame need the same types.
    """
    gappy = {n: t for n, t in frame.dtypes.items() if not isinstance(t, np.dtype)}
    return frame.astype({name: _float_type(dtype) for name, dtype in gappy.items()})


def _fill_array(X: Any, table: np.ndarray[Any, Any], values: Array, gaps: Any) -> Any:
    return np.where(gaps, values.astype(table.dtype), table)


def _fill_pandas(X: Any, table: np.ndarray[Any, Any], values: Array, gaps: Any) -> Any:
    frame = X.copy()
    for position in np.flatnonzero(gaps.any(axis=0)):
        numbers = np.where(gaps[:, position], values[:, position], 0.0)
        column = frame.iloc[:, position]
        column = column.astype(column.dtype if _whole(numbers) else _float_type(column.dtype))
        fill = type(column)(numbers, index=column.index).astype(column.dtype)
        frame.isetitem(position, column.where(~gaps[:, position], fill))
    return frame


def _whole(values: Array) -> bool:
    return bool((values == np.floor(values)).all())


def _float_type(dtype: Any) -> Any:
    """The type itself if it holds fractions, or the float type of the same family."""
    if getattr(dtype, "kind", "") == "f":
        return dtype
    name = str(dtype)
    if name.endswith("[pyarrow]"):
        return "double[pyarrow]"
    return "Float64" if name[:1].isupper() or name == "boolean" else "float64"


def _fill_polars(X: Any, table: np.ndarray[Any, Any], values: Array, gaps: Any) -> Any:
    polars = sys.modules["polars"]
    columns = []
    for position in np.flatnonzero(gaps.any(axis=0)):
        column = X.to_series(int(position))
        filled = np.where(gaps[:, position], values[:, position], table[:, position])
        dtype = column.dtype if column.dtype.is_float() or _whole(filled) else polars.Float64
        columns.append(polars.Series(column.name, filled).cast(dtype))
    return X.with_columns(columns)


def _wrap_pandas(X: Any, values: Array) -> Any:
    return type(X)(values, index=X.index, columns=X.columns)


def _wrap_polars(X: Any, values: Array) -> Any:
    return type(X)(values, schema=X.columns)


def _fill_arrow(X: Any, table: np.ndarray[Any, Any], values: Array, gaps: Any) -> Any:
    for position in np.flatnonzero(gaps.any(axis=0)):
        column = np.where(gaps[:, position], values[:, position], table[:, position])
        X = X.set_column(int(position), X.column_names[position], [column])
    return X


def _wrap_arrow(X: Any, values: Array) -> Any:
    return type(X).from_arrays([np.ascontiguousarray(c) for c in values.T], names=X.column_names)


_FILL: dict[str, Callable[[Any, np.ndarray[Any, Any], Array, Any], Any]] = {
    "pandas": _fill_pandas,
    "polars": _fill_polars,
    "pyarrow": _fill_arrow,
}
_WRAP: dict[str, Callable[[Any, Array], Any]] = {
    "pandas": _wrap_pandas,
    "polars": _wrap_polars,
    "pyarrow": _wrap_arrow,
}
_TAKE: dict[str, Callable[[Any, Any], Any]] = {
    "pandas": lambda X, chosen: X.iloc[chosen],
    "pyarrow": lambda X, chosen: X.take(chosen),
}
