"""Tables in memory as floats, in which words are codes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, NamedTuple, Self

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.io.cells.cardinality import MAX_EXACT_INTEGER
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.cells.missing_values import NONE, MissingCodes
from halfseen.io.cells.number_formats import NumberFormat, to_floats
from halfseen.io.coding import (
    NO_VALUES,
    UNSEEN_CODE,
    UNUSED_KINDS,
    Coding,
    declared_kinds,
    is_missing,
    numeric_coding,
    text_of,
    warn_unseen_categories,
)
from halfseen.io.columns import Column
from halfseen.io.containers import as_frame
from halfseen.io.formats.format import codes_of, sums_of
from halfseen.io.kind_inference import ColumnEvidence, coding_of, infer_column, warn_unused_columns
from halfseen.io.table import Reading
from halfseen.io.validation import (
    FloatTable,
    arrow_batch_as_table,
    check_in_memory,
    listener,
    names_heard,
    read_batch,
    read_new_table,
    read_table,
    reorder_as_fitted,
)


@dataclass(frozen=True, eq=False)
class MemoryColumn:
    """A column in memory: numbers, or words as an Arrow column."""

    numbers: Array | None = None  # (n,), if the table itself says that it holds numbers
    words: Any = None  # if it does not
    other: str | None = None  # what it holds, or some of its cells, if neither numbers nor text
    category: bool = False  # whether the table itself says that the cells are categories
    order: tuple[str, ...] | None = None  # of categories, if they have one
    whole: bool = False  # whether the numbers came as integers
    long: int = 0  # cells that are whole numbers of more digits than floats have

    @classmethod
    def of(cls, cells: Sequence[Any], **about: Any) -> Self:
        """A column of arbitrary objects."""
        kinds = set(map(type, cells))
        if _truths_among_numbers(cells, kinds):
            cells = [int(c) if isinstance(c, bool | np.bool_) else c for c in cells]
        others = sorted(found for kind in kinds if (found := _other(kind)) is not None)
        long = sum(isinstance(cell, int) and abs(cell) >= MAX_EXACT_INTEGER for cell in cells)
        if not kinds <= {str, type(None)}:
            cells = [text_of(cell, frozenset()) for cell in cells]
        words = pa.array(cells, pa.string())
        return cls(words=words, other=others[0] if others else None, long=long, **about)

    @cached_property
    def sums(self) -> CellSums:
        """Sums over the cells."""
        if self.numbers is None:
            sums = sums_of(self.words, MissingCodes())
            long = max(self.long, sums.long)
            return replace(sums, category=self.category, order=self.order, long=long)
        values = np.asarray(self.numbers, dtype=float)
        long = int((np.abs(values) >= MAX_EXACT_INTEGER).sum()) if self.whole else 0
        return CellSums.of_numbers(values, long=long)

    @property
    def seen(self) -> ColumnEvidence:
        """The evidence of the column."""
        if self.other is not None:
            return ColumnEvidence(CellSums(), self.other)
        return ColumnEvidence(self.sums, None, self.sums.run.numbers_rows)


def _other(kind: type) -> str | None:
    """The type of a cell that is no text, number or boolean."""
    if issubclass(kind, str | bool | np.bool_ | Real | Decimal | type(None)):
        return None
    if kind.__name__ in NO_VALUES:
        return None
    if issubclass(kind, date | time | timedelta | np.datetime64 | np.timedelta64):
        return "dates or times"
    return f"values of type {kind.__name__}"


def _truths_among_numbers(cells: Sequence[Any], kinds: set[type]) -> bool:
    """Whether booleans are numbers: there are other numbers beside them, and no text.

    So has NumPy them, where the same cells are a list.
    """
    if not kinds & {bool, np.bool_} or any(issubclass(kind, str) for kind in kinds):
        return False
    return any(
        isinstance(c, Real | Decimal) and not is_missing(c) and float(c) not in (0.0, 1.0)
        for c in cells
    )


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """A table in memory, as it was given."""

    n_rows: int
    names: tuple[str, ...] | None  # None if columns have numbers only
    columns: tuple[MemoryColumn, ...]

    @property
    def names_or_numbers(self) -> tuple[str, ...]:
        """The names of the columns, or their numbers."""
        return self.names or tuple(map(str, range(len(self.columns))))


def as_memory_table(X: Any) -> MemoryTable | None:
    """The columns of a data frame or an array; None if X is no table."""
    X = check_in_memory(X)
    frame = as_frame(X)
    if frame is not None:
        return _of_frame(frame)
    array = _array(X)
    if array is None or array.ndim != 2:
        return None
    if array.dtype.kind in "biuf":
        columns = [MemoryColumn(column, whole=array.dtype.kind in "iu") for column in array.T]
    else:
        columns = [MemoryColumn.of(column.tolist()) for column in array.T]
    return MemoryTable(len(array), None, tuple(columns))


def _array(X: Any) -> np.ndarray[Any, Any] | None:
    if isinstance(X, np.ndarray):
        return X
    if not isinstance(X, list | tuple):
        return None
    try:
        array = np.asarray(X)
        return array if array.dtype.kind in "biuf" else np.asarray(X, dtype=object)
    except (TypeError, ValueError, OverflowError):
        return None  # which scikit-learn refuses


def _of_frame(frame: "nw.DataFrame[Any]") -> MemoryTable:
    columns = list(frame.iter_columns())
    typed = [place for place, column in enumerate(columns) if column.dtype.is_numeric()]
    numbers: Iterator[Array] = iter(())
    if typed:
        numbers = iter(read_batch(frame[:, typed].to_native()).values.T)
    given = [
        MemoryColumn(next(numbers), whole=column.dtype.is_integer())
        if column.dtype.is_numeric()
        else _of_cells(column)
        for column in columns
    ]
    names = tuple(frame.columns)
    named = bool(names) and all(isinstance(name, str) for name in names)
    return MemoryTable(len(frame), names if named else None, tuple(given))


def _of_cells(column: "nw.Series[Any]") -> MemoryColumn:
    if column.dtype.is_temporal():
        return MemoryColumn(other="dates or times")
    if column.dtype in (nw.String, nw.Boolean, nw.Object):
        return MemoryColumn.of(column.to_list())
    if column.dtype in (nw.Categorical, nw.Enum):
        return MemoryColumn.of(column.to_list(), category=True, order=_order_of(column))
    if column.is_null().all():
        return MemoryColumn(np.full(len(column), np.nan))
    native = column.to_native()
    return MemoryColumn(other=f"values of type {getattr(native, 'dtype', None) or native.type}")


def _order_of(column: "nw.Series[Any]") -> tuple[str, ...] | None:
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
    words = (text_of(category, frozenset()) for category in categories)
    return tuple(dict.fromkeys(word for word in words if word is not None))


@dataclass(frozen=True, eq=False)
class TableEvidence:
    """Evidence of the columns of a table; evidence of several batches adds."""

    columns: Mapping[str, ColumnEvidence]
    named: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, or their numbers where they have none."""
        return tuple(self.columns)

    def __add__(self, other: "TableEvidence") -> "TableEvidence":
        both = dict(self.columns)
        for name, seen in other.columns.items():
            both[name] = both[name] + seen if name in both else seen
        return TableEvidence(both, self.named and other.named)


class CodedTable(NamedTuple):
    """A table as floats."""

    values: np.ndarray[Any, Any]  # (n, d), codes for words, NaN in the gaps
    unseen: Mask  # (n, d)  cells of words that are none of the labels: gaps to a model


class FoundCoding(NamedTuple):
    """How a table becomes floats, inferred from all of its rows."""

    coding: Coding
    writings: tuple[NumberFormat, ...]  # of numbers that are written as text
    columns: tuple[Column, ...] | None  # what became of each, if the table has names


class LearnedTable(NamedTuple):
    """A table as floats, with its coding and columns."""

    values: np.ndarray[Any, Any]  # (n, d), codes for words, NaN in the gaps
    names: tuple[str, ...] | None
    coding: Coding | None = None
    columns: tuple[Column, ...] | None = None  # what became of each, if anything is told of them


def read_and_code(X: Any, reading: Reading) -> LearnedTable:
    """The table to learn from, coded; warns of unused columns."""
    coding = reading.coding
    table = None if _is_plain(X, coding) else as_memory_table(X)
    if table is None:
        values, names = read_table(X, reading.name)
        every = names or tuple(map(str, range(values.shape[1])))
        coding = coding or numeric_coding(every, declared_kinds(reading.kinds, every))
        return LearnedTable(_without(values, coding), names, coding)
    names = names_of(X, reading.name)
    if coding is None:
        found = infer_coding(reading.kinds, table_evidence(table), names is not None)
        values = _checked(reading.name, encode(table, found.coding, found.writings).values)
        return LearnedTable(values, names, found.coding, found.columns)
    made = encode(table, coding, None)
    warn_unseen_categories(coding, made.unseen.sum(axis=0))
    return LearnedTable(_checked(reading.name, made.values), names, coding)


def _is_plain(X: Any, coding: Coding | None) -> bool:
    numbers = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    return numbers and (coding is None or not coding.worded.any())


def infer_coding(kinds: Any, seen: TableEvidence, tell: bool) -> FoundCoding:
    """The coding of a table from its evidence; warns of unused columns."""
    names = tuple(map(str, seen.names))
    declared = declared_kinds(kinds, names)
    columns = {
        name: infer_column(name, what, declared.get(name), named=seen.named)
        for name, what in zip(names, seen.columns.values(), strict=True)
    }
    fates = tuple(one.use.column(name) for name, one in columns.items())
    warn_unused_columns(fates)
    return FoundCoding(
        coding_of(names, columns),
        tuple(one.writing for one in columns.values()),
        fates if tell else None,
    )


def names_of(X: Any, name: str) -> tuple[str, ...] | None:
    """The names of a table's columns; refused if only some have names."""
    heard = listener(name)
    _hear_names(heard, X, reset=True)
    return names_heard(heard)


def _hear_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Let scikit-learn check the names of columns."""
    if isinstance(X, list | tuple):
        X = np.asarray(X, dtype=object)
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def encode_new_table(estimator: Any, X: Any) -> CodedTable:
    """New rows as floats (n, d), by the coding of the fit."""
    check_is_fitted(estimator)
    ordered, coding = reorder_as_fitted(estimator, X), estimator.coding_
    table = None if _is_plain(ordered, coding) else as_memory_table(ordered)
    if table is None:
        values = _without(read_new_table(estimator, X), coding)
        return CodedTable(values, np.zeros(values.shape, bool))
    _hear_names(estimator, ordered, reset=False)
    made = encode(table, coding, None)
    return made._replace(values=_checked(type(estimator).__name__, made.values))


def read_new(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    """New rows as floats, with the number of unseen categories."""
    made = encode_new_table(estimator, X)
    warn_unseen_categories(estimator.coding_, made.unseen.sum(axis=0))
    return made.values


def table_evidence(table: MemoryTable) -> TableEvidence:
    """The evidence of the columns of a table."""
    names = table.names_or_numbers
    columns = {name: column.seen for name, column in zip(names, table.columns, strict=True)}
    return TableEvidence(columns, table.names is not None)


def encode(
    table: MemoryTable, coding: Coding, writings: tuple[NumberFormat, ...] | None
) -> CodedTable:
    """A table as floats, with number formats given or inferred."""
    if len(table.columns) != len(coding.names):
        raise DataError(
            f"The table has {len(table.columns)} columns, and the model was fitted to "
            f"{len(coding.names)}."
        )
    single = all(c.numbers is not None and c.numbers.dtype == np.float32 for c in table.columns)
    values = np.empty((table.n_rows, len(table.columns)), np.float32 if single else np.float64)
    wrong = []
    for place, column in enumerate(table.columns):
        floats = _floats(column, coding, place, None if writings is None else writings[place])
        if floats is None:
            wrong.append(place)
        else:
            values[:, place] = floats
    if wrong:
        raise DataError(
            f"{quoted(coding.names, wrong)} cannot be read as numbers, which the fit found there. "
            "Write numbers, or fit again."
        )
    unseen = coding.worded & (values == UNSEEN_CODE)
    values[unseen] = np.nan
    return CodedTable(values, unseen)


def _floats(
    column: MemoryColumn, coding: Coding, place: int, writing: NumberFormat | None
) -> Array | float | None:
    """A column by its coding; None if it should be numeric and is not."""
    labels = coding.labels[place]
    if coding.kinds[place] in UNUSED_KINDS:
        return np.nan
    if labels:
        if column.numbers is not None:
            column = MemoryColumn.of(column.numbers.tolist())
        if column.words is None:
            return UNSEEN_CODE
        # None is no gap among words if it is a label.
        return codes_of(column.words, labels, MissingCodes(none=NONE in labels))
    if column.numbers is not None:
        return column.numbers
    if column.other is not None:
        return None
    if writing is None:
        if not column.sums.n_values:  # nothing but words that stand for gaps among numbers
            return np.nan
        writing = column.sums.writing
    return None if writing is None else to_floats(column.words, writing, MissingCodes())


def _without(values: np.ndarray[Any, Any], coding: Coding) -> np.ndarray[Any, Any]:
    if len(coding.names) == values.shape[1] and coding.left_out.any():
        values = np.where(coding.left_out, values.dtype.type(np.nan), values)
    return values


def _checked(name: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    checked: np.ndarray[Any, Any] = check_array(
        values, dtype=None, ensure_all_finite=False, estimator=name
    )
    return checked


@dataclass(frozen=True, eq=False)
class UnseenCounts:
    """The number of unseen categories of each column."""

    names: tuple[str, ...]
    named: bool
    counts: Array  # (d,)

    def __add__(self, other: "UnseenCounts") -> "UnseenCounts":
        return UnseenCounts(self.names, self.named, self.counts + other.counts)


def batch_evidence(X: Any) -> TableEvidence:
    """The evidence of some rows."""
    return table_evidence(_table(X))


def count_unseen(coding: Coding, X: Any) -> UnseenCounts:
    """The unseen categories of some rows."""
    table = _table(X)
    counts = np.zeros(len(coding.names))
    if len(table.columns) == len(counts):  # otherwise it is refused when it is read
        counts += encode(table, coding, None).unseen.sum(axis=0)
    return UnseenCounts(table.names_or_numbers, table.names is not None, counts)


def read_coded_batch(
    coding: Coding, writings: tuple[NumberFormat, ...] | None, X: Any
) -> FloatTable:
    """Some rows as floats; there may be none."""
    table = _table(X)
    if len(table.columns) != len(coding.names):  # which is refused with its number
        return FloatTable(np.empty((table.n_rows, len(table.columns))), table.names)
    names_of(arrow_batch_as_table(X), "Estimator")
    return FloatTable(encode(table, coding, writings).values, table.names)


def _table(X: Any) -> MemoryTable:
    table = as_memory_table(arrow_batch_as_table(X))
    if table is None:
        raise TypeError(f"a {type(X).__name__} is not some rows of a table")
    return table
