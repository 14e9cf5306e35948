"""Tables handed back in the container they came in, whichever library of data frames that is."""

import copy
from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError
from halfseen.tables.as_given import as_given
from halfseen.tables.cells.words import FALSE_AND_TRUE
from halfseen.tables.coding import Coding, words_of_codes
from halfseen.tables.filled_words import filled_cells, filled_words


def as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """A data frame in memory, of any library; None if X is none."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise DataError(
            "The data frame has several columns of the same name. Give each its own name."
        ) from error
    return frame if isinstance(frame, nw.DataFrame) else None


def filled_like(
    X: Any,
    table: np.ndarray[Any, Any],
    values: Array,
    coding: Coding | None = None,
    unseen: Mask | None = None,
) -> Any:
    """``X`` with its gaps filled from ``values`` (n, d); ``table`` is X as an array.

    What was observed is not touched, nor what is ``unseen`` (n, d) or in columns that the
    ``coding`` leaves out. Columns and arrays of floats keep their type; columns of integers become
    floats where a gap was filled with something that is not a whole number; those of words get
    words.
    """
    gaps = gaps_of(table, coding, unseen)
    if not gaps.any():
        return copy.deepcopy(X)
    frame = as_frame(X)
    if frame is None:
        if coding is None:
            return np.where(gaps, values.astype(table.dtype), table)
        return _filled_array(X, table, gaps, values, coding)
    places = [(place, c) for place, c in enumerate(frame.iter_columns()) if gaps[:, place].any()]
    filled = []
    for place, column in places:
        gap, new, labels = gaps[:, place], values[:, place], coding and coding.labels[place]
        if labels:
            words = words_of_codes(labels, new).tolist()
            filled.append(filled_words(column, gap, words, labels == FALSE_AND_TRUE))
        elif not column.dtype.is_numeric():  # numbers in words
            filled.append(_series(column, np.where(gap, new, table[:, place])))
        else:
            filled.append(_filled(column, gap, new))
    return frame.with_columns(*filled).to_native()


def gaps_of(table: np.ndarray[Any, Any], coding: Coding | None, unseen: Mask | None) -> Mask:
    """Which cells (n, d) are gaps that a model may fill."""
    gaps: Mask = np.isnan(table)
    if coding is not None:
        gaps = gaps & ~coding.left_out
    return gaps if unseen is None else gaps & ~unseen


def _filled_array(
    X: Any, table: np.ndarray[Any, Any], gaps: Mask, values: Array, coding: Coding
) -> np.ndarray[Any, Any]:
    """An array, or a list of rows, with its gaps filled; one of objects stays one."""
    filled = as_array(X, table.dtype)
    if filled.dtype != object:
        return np.where(gaps, values, filled).astype(table.dtype)
    for place, labels in enumerate(coding.labels):
        gap, new = gaps[:, place], values[:, place]
        if labels:
            words = words_of_codes(labels, new).tolist()
            filled[:, place] = filled_cells(
                filled[:, place].tolist(), gap, words, labels == FALSE_AND_TRUE
            )
        else:
            filled[gap, place] = new[gap]
    return filled


def as_array(X: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """An array, or a list of rows, as an array of numbers of a type, or of objects as they are."""
    given = np.asarray(as_given(X))
    return (
        given.astype(dtype) if given.dtype.kind in "biuf" else np.array(as_given(X), dtype=object)
    )


def with_filled(X: Any, filled: Any) -> Any:
    """``X`` with those of its columns that are ``filled``; others of a data frame stay."""
    frame, done = as_frame(X), as_frame(filled)
    if frame is None or done is None:
        return filled
    return frame.with_columns(*done.iter_columns()).to_native()


def table_like(X: Any, values: Array) -> Any:
    """``values`` (n, d) with the rows' and columns' names of ``X``, if it has any."""
    frame = as_frame(X)
    if frame is None:
        return values
    columns = [_series(c, v) for c, v in zip(frame.iter_columns(), values.T, strict=True)]
    return frame.with_columns(*columns).to_native()


def arrow_table(names: Sequence[str], values: Array) -> Any:
    """``values`` (n, d) under names, as an Arrow table."""
    import pyarrow as pa

    return pa.table([np.ascontiguousarray(column) for column in values.T], names=list(names))


def rows_of(X: Any, chosen: np.ndarray[Any, Any]) -> Any:
    """The rows of ``X`` with the given numbers."""
    frame = as_frame(X)
    return X[chosen] if frame is None else frame[chosen].to_native()


def with_fractions(frame: Any, words: Collection[Any] = ()) -> Any:
    """A pandas frame whose columns may all hold fractions, if they can have gaps at all.

    Columns of ``words`` stay as they are.

    Whether a column of integers keeps its type when its gaps are filled is known only afterwards,
    and parts of one frame need the same types.
    """
    kinds = {name: kind for name, kind in frame.dtypes.items() if name not in words}
    whole = [n for n, t in kinds.items() if not isinstance(t, np.dtype) and t.kind != "f"]
    if not whole:
        return frame
    return nw.from_native(frame).with_columns(nw.col(*whole).cast(nw.Float64)).to_native()


def _filled(column: "nw.Series[Any]", gaps: Mask, values: Array) -> "nw.Series[Any]":
    numbers = np.where(gaps, values, 0.0)
    keeps = column.dtype.is_float() or (column.dtype.is_numeric() and _whole(numbers))
    dtype = column.dtype if keeps else nw.Float64()
    known = _series(column, ~gaps)
    return column.cast(dtype).zip_with(known, _series(column, numbers).cast(dtype))


def _series(column: "nw.Series[Any]", values: np.ndarray[Any, Any]) -> "nw.Series[Any]":
    """Values in a column of the same name and library."""
    values = np.ascontiguousarray(values)
    return nw.new_series(column.name, values, backend=column.implementation)


def _whole(values: Array) -> bool:
    return bool((values == np.floor(values)).all())
