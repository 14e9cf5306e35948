"""A table in memory, column by column: numbers, or cells of which each may be any object."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np

from halfseen.rows.arrays import Array
from halfseen.tables.arrays_and_frames import read_batch
from halfseen.tables.as_given import as_given
from halfseen.tables.cells.distinct import LARGEST
from halfseen.tables.cells.gap_words import NONE, Gaps
from halfseen.tables.cells.sums import CellSums
from halfseen.tables.cells.words import Words, word_of
from halfseen.tables.containers import as_frame
from halfseen.tables.found_coding import Seen


@dataclass(frozen=True, eq=False)
class GivenColumn:
    """A column as the table has it."""

    numbers: Array | None = None  # (n,), if the table itself says that it holds numbers
    cells: Sequence[Any] = ()  # if it does not
    other: str | None = None  # what it holds, if neither numbers nor text
    category: bool = False  # whether the table itself says that the cells are categories
    order: tuple[str, ...] | None = None  # of categories, if they have one
    whole: bool = False  # whether the numbers came as integers

    @cached_property
    def words(self) -> Words:
        """The cells as words."""
        return Words.of(self.cells if self.numbers is None else self.numbers.tolist(), Gaps())

    def in_words(self, labels: tuple[str, ...]) -> Words:
        """The cells as words, none of which stands for a gap if it is a label."""
        return Words.of(self.cells, Gaps(none=True)) if NONE in labels else self.words

    @property
    def seen(self) -> Seen:
        """What is seen of it."""
        if self.other is not None:
            return Seen(CellSums(), self.other)
        if self.numbers is not None:
            values = np.asarray(self.numbers, dtype=float)
            long = int((np.abs(values) >= LARGEST).sum()) if self.whole else 0
            cells = CellSums.of_numbers(values, long=long)
            return Seen(cells, None, cells.run.numbers_rows)
        if self.words.other is not None:
            return Seen(CellSums(), self.words.other)
        cells = replace(self.words.sums, category=self.category, order=self.order)
        return Seen(cells, None, cells.run.numbers_rows)


@dataclass(frozen=True, eq=False)
class GivenTable:
    """A table as it was given."""

    n_rows: int
    names: tuple[str, ...] | None  # None if columns have numbers only
    columns: tuple[GivenColumn, ...]

    @property
    def names_or_numbers(self) -> tuple[str, ...]:
        """What the columns are called."""
        return self.names or tuple(map(str, range(len(self.columns))))


def in_columns(X: Any) -> GivenTable | None:
    """The columns of a data frame or an array; None if X is no table."""
    X = as_given(X)
    frame = as_frame(X)
    if frame is not None:
        return _of_frame(frame)
    array = _array(X)
    if array is None or array.ndim != 2:
        return None
    if array.dtype.kind in "biuf":
        columns = [GivenColumn(column, whole=array.dtype.kind in "iu") for column in array.T]
    else:
        columns = [GivenColumn(cells=column.tolist()) for column in array.T]
    return GivenTable(len(array), None, tuple(columns))


def is_array_of_numbers(X: Any) -> bool:
    """Whether X is an array in which every column holds numbers."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "biuf"


def _array(X: Any) -> np.ndarray[Any, Any] | None:
    """An array of numbers, or of objects as they are."""
    if isinstance(X, np.ndarray):
        return X
    if not isinstance(X, list | tuple):
        return None
    try:
        array = np.asarray(X)
        return array if array.dtype.kind in "biuf" else np.asarray(X, dtype=object)
    except (TypeError, ValueError, OverflowError):
        return None  # which scikit-learn refuses


def _of_frame(frame: "nw.DataFrame[Any]") -> GivenTable:
    columns = list(frame.iter_columns())
    typed = [place for place, column in enumerate(columns) if column.dtype.is_numeric()]
    numbers: Iterator[Array] = iter(())
    if typed:
        numbers = iter(read_batch(frame[:, typed].to_native()).values.T)
    given = [
        GivenColumn(next(numbers), whole=column.dtype.is_integer())
        if column.dtype.is_numeric()
        else _of_cells(column)
        for column in columns
    ]
    names = tuple(frame.columns)
    named = bool(names) and all(isinstance(name, str) for name in names)
    return GivenTable(len(frame), names if named else None, tuple(given))


def _of_cells(column: "nw.Series[Any]") -> GivenColumn:
    if column.dtype.is_temporal():
        return GivenColumn(other="dates or times")
    if column.dtype in (nw.String, nw.Boolean, nw.Object):
        return GivenColumn(cells=column.to_list())
    if column.dtype in (nw.Categorical, nw.Enum):
        return GivenColumn(cells=column.to_list(), category=True, order=order_of(column))
    if column.is_null().all():
        return GivenColumn(np.full(len(column), np.nan))
    native = column.to_native()
    return GivenColumn(other=f"values of type {getattr(native, 'dtype', None) or native.type}")


def order_of(column: "nw.Series[Any]") -> tuple[str, ...] | None:
    """The categories of a column in their own order, if they have one."""
    native = column.to_native()
    if column.implementation.is_pyarrow():
        if not native.type.ordered:
            return None
        categories = [word for chunk in native.chunks for word in chunk.dictionary.to_pylist()]
    elif column.implementation.is_polars():
        if column.dtype != nw.Enum:
            return None
        categories = native.dtype.categories.to_list()
    else:
        if not native.dtype.ordered:
            return None
        categories = list(native.dtype.categories)
    words = (word_of(category, frozenset()) for category in categories)
    return tuple(dict.fromkeys(word for word in words if word is not None))
