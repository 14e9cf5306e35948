"""Tables in memory as floats, in which words are codes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.arrays_and_frames import (
    feature_names,
    read_new_table,
    read_table,
)
from halfseen.tables.cells.words import UNSEEN, coder
from halfseen.tables.cells.writing import Writing
from halfseen.tables.coding import LEFT_OUT, Coding, of_numbers
from halfseen.tables.column_order import in_fitted_order
from halfseen.tables.columns_in_memory import (
    GivenColumn,
    GivenTable,
    in_columns,
    is_array_of_numbers,
)
from halfseen.tables.declared_kinds import declared_kinds
from halfseen.tables.found_coding import Seen, coded, coding_of, warn_of_left_aside
from halfseen.tables.read_columns import keep_columns
from halfseen.tables.unseen import warn_of_unseen


@dataclass(frozen=True, eq=False)
class TableSeen:
    """What was seen of the columns of a table; that of rows that follow each other adds."""

    columns: Mapping[str, Seen]
    named: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, or their numbers where they have none."""
        return tuple(self.columns)

    def __add__(self, other: "TableSeen") -> "TableSeen":
        both = dict(self.columns)
        for name, seen in other.columns.items():
            both[name] = both[name] + seen if name in both else seen
        return TableSeen(both, self.named and other.named)


class CodedTable(NamedTuple):
    """A table as floats."""

    values: np.ndarray[Any, Any]  # (n, d), codes for words, NaN in the gaps
    unseen: Mask  # (n, d)  cells of words that are none of the labels: gaps to a model


class Found(NamedTuple):
    """How a table is made floats, as it was found in all of its rows."""

    coding: Coding
    writings: tuple[Writing, ...]  # of numbers that are written as text


def read_and_code(estimator: Any, X: Any, coding: Coding | None = None) -> np.ndarray[Any, Any]:
    """The float table (n, d) to learn from, by a coding that is known or found in it.

    The estimator keeps the coding; what is not used is said.
    """
    table = None if _is_plain(X, coding) else in_columns(X)
    if table is None:
        values = read_table(estimator, X)
        names = feature_names(estimator)
        estimator.coding_ = coding or of_numbers(names, declared_kinds(estimator, names))
        return _without(values, estimator.coding_)
    learn_names(estimator, X)
    if coding is None:
        found = found_coding(estimator, seen_of(table))
        estimator.coding_ = found.coding
        return _checked(estimator, by_coding(table, *found).values)
    estimator.coding_ = coding
    made = by_coding(table, coding, None)
    warn_of_unseen(coding, made.unseen.sum(axis=0))
    return _checked(estimator, made.values)


def _is_plain(X: Any, coding: Coding | None) -> bool:
    """Whether X holds numbers that are taken as they are."""
    return is_array_of_numbers(X) and (coding is None or not coding.worded.any())


def found_coding(estimator: Any, seen: TableSeen) -> Found:
    """The coding of a table of which this was seen; says which of its columns are not used."""
    names = feature_names(estimator)
    kinds = declared_kinds(estimator, names)
    columns = {
        name: coded(name, what, kinds.get(name), named=seen.named)
        for name, what in zip(names, seen.columns.values(), strict=True)
    }
    fates = [one.fate.column(name) for name, one in columns.items()]
    warn_of_left_aside(fates)
    if hasattr(estimator, "feature_names_in_"):
        keep_columns(estimator, fates)
    return Found(coding_of(names, columns), tuple(one.writing for one in columns.values()))


def learn_names(estimator: Any, X: Any, *, reset: bool = True) -> None:
    """Tell an estimator the names of the columns, or check that they are those it knows."""
    if isinstance(X, list | tuple):
        X = np.asarray(X, dtype=object)
    validate_data(estimator, X, reset=reset, skip_check_array=True)


def read_new_coded(estimator: Any, X: Any) -> CodedTable:
    """A float table (n, d) for a fitted estimator, by its coding; says nothing of what is new."""
    check_is_fitted(estimator)
    ordered, coding = in_fitted_order(estimator, X), estimator.coding_
    table = None if _is_plain(ordered, coding) else in_columns(ordered)
    if table is None:
        values = _without(read_new_table(estimator, X), coding)
        return CodedTable(values, np.zeros(values.shape, bool))
    learn_names(estimator, ordered, reset=False)
    made = by_coding(table, coding, None)
    return made._replace(values=_checked(estimator, made.values))


def read_new(estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    """The same, which says how many cells hold words that the fit did not see."""
    made = read_new_coded(estimator, X)
    warn_of_unseen(estimator.coding_, made.unseen.sum(axis=0))
    return made.values


def seen_of(table: GivenTable) -> TableSeen:
    """What is seen of the columns of a table."""
    names = table.names_or_numbers
    columns = {name: column.seen for name, column in zip(names, table.columns, strict=True)}
    return TableSeen(columns, table.names is not None)


def by_coding(
    table: GivenTable, coding: Coding, writings: tuple[Writing, ...] | None
) -> CodedTable:
    """A table as floats; numbers are read by the ``writings`` that were found, or anew."""
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
    unseen = coding.worded & (values == UNSEEN)
    values[unseen] = np.nan
    return CodedTable(values, unseen)


def _floats(
    column: GivenColumn, coding: Coding, place: int, writing: Writing | None
) -> Array | float | None:
    """A column by its coding; None if it should hold numbers and does not."""
    labels = coding.labels[place]
    if coding.kinds[place] in LEFT_OUT:
        return np.nan
    if labels:
        words = column.in_words(labels)
        return UNSEEN if column.other is not None else words.mapped(coder(labels))
    if column.numbers is not None:
        return column.numbers
    if column.other is not None or column.words.other is not None:
        return None
    if writing is None:
        sums = column.words.sums
        if not sums.n_values:  # nothing but words that stand for gaps among numbers
            return np.nan
        writing = sums.writing
    return None if writing is None else column.words.floats(writing)


def _without(values: np.ndarray[Any, Any], coding: Coding) -> np.ndarray[Any, Any]:
    """A table of numbers with gaps in the columns that are not used."""
    if len(coding.names) == values.shape[1] and coding.left_out.any():
        values = np.where(coding.left_out, values.dtype.type(np.nan), values)
    return values


def _checked(estimator: Any, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A table with at least a row and a column, in scikit-learn's words."""
    checked: np.ndarray[Any, Any] = check_array(
        values, dtype=None, ensure_all_finite=False, estimator=estimator
    )
    return checked
