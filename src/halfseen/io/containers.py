"""Tables handed back in the container they came in, whichever library of data frames that is."""

import copy
from collections.abc import Collection, Iterable, Sequence
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.io.coding import (
    BOOLEAN_LABELS,
    Coding,
    boolean_label,
    is_missing,
    labels_of_codes,
    text_of,
)
from halfseen.io.validation import check_in_memory


def as_frame(X: Any) -> "nw.DataFrame[Any] | None":
    """A data frame in memory, of any library; None if X is none."""
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except DuplicateError as error:
        raise DataError(
            "The data frame has several columns of the same name. Give each its own name."
        ) from error
    return frame if isinstance(frame, nw.DataFrame) else None


def fill_like(
    X: Any,
    table: np.ndarray[Any, Any],
    values: Array,
    coding: Coding | None = None,
    unseen: Mask | None = None,
) -> Any:
    """``X`` with its gaps filled from ``values`` (n, d).

    What was observed is not touched, nor what is ``unseen`` (n, d) or in columns that the
    ``coding`` leaves out. Columns and arrays of floats keep their type; columns of integers become
    floats where a gap was filled with something that is not a whole number; those of words get
    words.
    """
    gaps = fillable_mask(table, coding, unseen)
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
            words = labels_of_codes(labels, new).tolist()
            filled.append(fill_categories(column, gap, words, labels == BOOLEAN_LABELS))
        elif not column.dtype.is_numeric():  # numbers in words
            filled.append(_series(column, np.where(gap, new, table[:, place])))
        else:
            filled.append(_filled(column, gap, new))
    return frame.with_columns(*filled).to_native()


def fillable_mask(table: np.ndarray[Any, Any], coding: Coding | None, unseen: Mask | None) -> Mask:
    """Which cells (n, d) are gaps that may be filled."""
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
            words = labels_of_codes(labels, new).tolist()
            filled[:, place] = fill_category_cells(
                filled[:, place].tolist(), gap, words, labels == BOOLEAN_LABELS
            )
        else:
            filled[gap, place] = new[gap]
    return filled


def as_array(X: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """An array, or a list of rows, as an array of numbers of a type, or of objects as they are."""
    given = np.asarray(check_in_memory(X))
    return (
        given.astype(dtype)
        if given.dtype.kind in "biuf"
        else np.array(check_in_memory(X), dtype=object)
    )


def with_filled(X: Any, filled: Any) -> Any:
    """``X`` with its ``filled`` columns replaced."""
    frame, done = as_frame(X), as_frame(filled)
    if frame is None or done is None:
        return filled
    return frame.with_columns(*done.iter_columns()).to_native()


def table_like(X: Any, values: Array) -> Any:
    """``values`` (n, d) with the row and column names of ``X``."""
    frame = as_frame(X)
    if frame is None:
        return values
    columns = [_series(c, v) for c, v in zip(frame.iter_columns(), values.T, strict=True)]
    return frame.with_columns(*columns).to_native()


def arrow_table(names: Sequence[str], values: Array) -> Any:
    """``values`` (n, d) under names, as an Arrow table."""
    return pa.table([np.ascontiguousarray(column) for column in values.T], names=list(names))


def as_float_columns(frame: Any, words: Collection[Any] = ()) -> Any:
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
    values = np.ascontiguousarray(values)
    return nw.new_series(column.name, values, backend=column.implementation)


def _whole(values: Array) -> bool:
    return bool((values == np.floor(values)).all())


def fill_categories(
    column: "nw.Series[Any]", gaps: Mask, words: Sequence[str | None], truths: bool
) -> "nw.Series[Any]":
    """A column with its gaps filled by words (n,).

    ``truths`` says that the words are those for false and true, which the column may write in
    another way.
    """
    filled = np.flatnonzero(gaps & np.array([word is not None for word in words], dtype=bool))
    if not len(filled) or (column.dtype == nw.Boolean and not truths):
        return column  # there is no room for other words among truths
    if column.implementation.is_pyarrow():
        fill = _arrow
    else:
        fill = _polars if column.implementation.is_polars() else _pandas
    own = _own_cells(_known(column), [words[place] for place in filled.tolist()], truths)
    if column.dtype == nw.Boolean:
        own = [cell in ("True", True) for cell in own]
    made: nw.Series[Any] = nw.from_native(fill(column, filled, own), series_only=True)
    return made.alias(column.name)


def fill_category_cells(
    cells: Sequence[Any], gaps: Mask, words: Sequence[str | None], truths: bool
) -> list[Any]:
    """The same of cells that may be any objects."""
    own = _own_cells(cells, words, truths)
    return [
        new if gap and new is not None else cell
        for cell, gap, new in zip(cells, gaps, own, strict=True)
    ]


def _own_cells(known: Iterable[Any], words: Iterable[str | None], truths: bool) -> list[Any]:
    """Words in the type and spelling of a column."""
    seen = {str(text_of(cell, frozenset())): cell for cell in known if not is_missing(cell)}
    cells = list(seen.values())
    if truths:
        seen = {boolean_label(word): cell for word, cell in seen.items()} | seen
        if cells and all(isinstance(cell, bool | np.bool_) for cell in cells):
            seen |= {word: word == "True" for word in BOOLEAN_LABELS}
    if cells and not truths and all(isinstance(cell, Real) for cell in cells):
        return [None if word is None else seen.get(word, _as_number(word)) for word in words]
    return [None if word is None else seen.get(word, word) for word in words]


def _as_number(word: str) -> Any:
    """A word as a number if it is one, for columns of numbers."""
    try:
        return float(word)
    except ValueError:
        return word


def _known(column: "nw.Series[Any]") -> list[Any]:
    """The distinct cells, and categories without cells."""
    found = column.unique().to_list() if column.dtype != nw.Object else column.to_list()
    if column.implementation.is_pandas_like() and column.dtype in (nw.Categorical, nw.Enum):
        found += list(column.to_native().dtype.categories)
    return found


def _pandas(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> Any:
    native = column.to_native().copy()
    if column.dtype in (nw.Categorical, nw.Enum):
        known = set(native.dtype.categories)
        native = native.cat.add_categories([c for c in dict.fromkeys(cells) if c not in known])
    elif column.dtype not in (nw.String, nw.Object, nw.Boolean):
        native = native.astype(object)
    native.iloc[places] = cells
    return native


def _with(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> list[Any]:
    every = column.to_list()
    for place, cell in zip(places, cells, strict=True):
        every[place] = cell
    return every


def _polars(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> Any:
    polars: Any = column.implementation.to_native_namespace()
    native, dtype = column.to_native(), column.to_native().dtype
    every = _with(column, places, cells)
    if column.dtype == nw.Enum:
        dtype = polars.Enum(list(dict.fromkeys([*dtype.categories.to_list(), *cells])))
    elif column.dtype not in (nw.String, nw.Categorical, nw.Boolean):
        dtype = None
    return polars.Series(native.name, every, dtype=dtype, strict=False)


def _arrow(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> Any:
    kind, every = column.to_native().type, _with(column, places, cells)
    if pa.types.is_dictionary(kind):
        chunks = column.to_native().chunks
        known = [word for chunk in chunks for word in chunk.dictionary.to_pylist()]
        words = {word: place for place, word in enumerate(dict.fromkeys([*known, *cells]))}
        codes = pa.array([None if w is None else words[w] for w in every], kind.index_type)
        values = pa.array(list(words), kind.value_type)
        filled = pa.DictionaryArray.from_arrays(codes, values, ordered=kind.ordered)
    elif column.dtype in (nw.String, nw.Boolean):
        filled = pa.array(every, kind)
    else:
        filled = pa.array(every)
    return pa.chunked_array([filled])
