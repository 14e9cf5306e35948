"""Columns as Arrow holds them: what they are, how they look, and as floats."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from pyarrow import types

from halfseen.data.arrays import Array
from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.cells.category_codes import UNSEEN_CODE, FactorizedColumn, label_encoder, text_of
from halfseen.io.cells.cell_sums import CellSums, count_long_integers, labels_if_few
from halfseen.io.cells.dates import DateOrder, Dates, days_in
from halfseen.io.cells.missing_values import MissingCodes
from halfseen.io.cells.number_formats import (
    NumberFormat,
    is_text,
    null_likely_codes,
    to_floats,
    trim_and_null,
)
from halfseen.io.formats.format import ColumnFormat, Field, FileEvidence, Header, ReadPlan

LOOKED_AT = 1 << 20
"""Cells of the first rows, which settle what most columns hold."""

AS_THEY_ARE = Dates(DateOrder.TYPED, 0.0)


def header_of(schema: Any) -> Header:
    """The columns of a schema, with the index that pandas keeps beside them."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    fields = tuple(
        Field(
            named(name, number),
            name,
            _other(schema.field(number).type),
            _dated(schema.field(number).type),
        )
        for number, name in enumerate(schema.names)
    )
    stored = {name for name in index if isinstance(name, str)}
    return Header(fields, frozenset(field.name for field in fields if field.stored in stored))


def named(name: str, number: int) -> str:
    """What users call a column; its number, from 1, if it has no name."""
    return name.strip() or f"column {number + 1}"


def pieces_of(batch: Any, reading: ReadPlan, n_rows: int) -> Iterator[Piece]:
    """A record batch in parts of at most ``n_rows`` rows; copies nothing."""
    for start in range(0, batch.num_rows, n_rows):
        part = batch.slice(start, n_rows)
        yield Piece(part.num_rows, partial(_floats, part, reading))


def look_through(
    batches: Callable[[tuple[str, ...], int], Iterator[Any]],
    header: Header,
    stored: tuple[str, ...],
    gaps: MissingCodes,
) -> FileEvidence:
    """How the cells of columns look: by the first rows, and where these leave it open, by all.

    What cannot be read is not seen: the pass that sums the rows says where it is.
    """
    n_rows = max(LOOKED_AT // max(len(header.fields), 1), 64)  # whichever columns are asked for
    found = dict.fromkeys(stored, CellSums())
    try:
        first = next(batches(stored, n_rows), None)
        if first is None:
            return FileEvidence(0, found)
        found |= cells_of(first, stored, gaps)
        rest = tuple(name for name in stored if not found[name].settled)
        return (
            _all_rows(batches(rest, n_rows), rest, gaps, found)
            if rest
            else FileEvidence(None, found)
        )
    except DataError:
        return FileEvidence(None, found)


def _all_rows(
    batches: Iterator[Any], stored: tuple[str, ...], gaps: MissingCodes, found: dict[str, CellSums]
) -> FileEvidence:
    """What was ``found``, with what all rows say of some columns, until nothing is left open."""
    total, cells = 0, dict.fromkeys(stored, CellSums())
    for batch in batches:
        unsettled = [name for name in stored if not cells[name].settled]
        if not unsettled:
            return FileEvidence(None, found | cells)
        total += batch.num_rows
        for name, sums in cells_of(batch, unsettled, gaps).items():
            cells[name] += sums
    return FileEvidence(total, found | cells)


def cells_of(batch: Any, stored: Sequence[str], gaps: MissingCodes) -> dict[str, CellSums]:
    """How the cells of columns of a record batch look."""
    return {name: _cells(batch.column(name), gaps.of(name)) for name in stored}


def _cells(column: Any, gaps: MissingCodes) -> CellSums:
    if types.is_dictionary(column.type):
        sums = _cells(column.cast(column.type.value_type), gaps)
        return replace(sums, category=True, **_categories(column, gaps))
    if is_text(column.type):
        return CellSums.of_text(column, gaps)
    if _dated(column.type):
        sums = CellSums.of_numbers(days_in(column, AS_THEY_ARE))
        return replace(sums, orders=frozenset({DateOrder.TYPED}))
    values = to_floats(column, NumberFormat.PLAIN, gaps)
    truths, long = types.is_boolean(column.type), count_long_integers(column, values)
    return CellSums.of_numbers(values, truths=truths, long=long)


def _categories(column: Any, gaps: MissingCodes) -> dict[str, Any]:
    """The categories that cells of a dictionary have, and their order, if they have one."""
    gap_words = frozenset(gaps.words)
    words = [text_of(value, gap_words) for value in column.dictionary.to_pylist()]
    used = {words[place] for place in column.indices.unique().drop_null().to_pylist()}
    order = tuple(dict.fromkeys(word for word in words if word is not None))
    return {
        "categories": labels_if_few(word for word in used if word is not None),
        "order": order if column.type.ordered else None,
    }


def _other(kind: Any) -> str | None:
    """What a column of a type holds that holds neither numbers nor text."""
    if types.is_dictionary(kind):
        return _other(kind.value_type)
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    if is_text(kind) or any(test(kind) for test in tests):
        return None
    return "dates or times" if types.is_temporal(kind) else f"values of type {kind}"


def _dated(kind: Any) -> bool:
    """Whether a column of a type holds days, or moments."""
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def _floats(batch: Any, reading: ReadPlan) -> np.ndarray[Any, Any]:
    """Columns as floats, nulls as NaN, float32 if all are; column after column, as Arrow does."""
    columns = [
        _as_floats(batch, column, reading.gaps.of(column.stored)) for column in reading.columns
    ]
    single = all(column.dtype == np.float32 for column in columns)
    shape = (batch.num_rows, len(columns))
    table = np.empty(shape, np.float32 if single else np.float64, order="F")
    for place, column in enumerate(columns):
        table[:, place] = column
    return table


def _as_floats(batch: Any, column: ColumnFormat, gaps: MissingCodes) -> np.ndarray[Any, Any]:
    if column.dates is not None:
        return _days(batch.column(column.stored), column.dates, column.stored, gaps)
    if column.labels is None:
        return to_floats(batch.column(column.stored), column.writing, gaps)
    if not column.labels:
        return np.full(batch.num_rows, np.nan)
    codes = codes_of(batch.column(column.stored), column.labels, gaps)
    return np.where(codes == UNSEEN_CODE, np.nan, codes)


def _days(cells: Any, dates: Dates, name: str, gaps: MissingCodes) -> Array:
    """Dates as days; those that the look did not see must be written alike."""
    known = null_likely_codes(trim_and_null(cells, gaps)) if is_text(cells.type) else cells
    days = days_in(known, dates)
    if np.isnan(days).sum() > known.null_count:
        raise DataError(
            f"Column '{name}' holds dates in several writings, or a day that there is "
            "not. Write all of them as 2020-12-31, or leave the column out."
        )
    return days


def codes_of(column: Any, labels: tuple[str, ...], gaps: MissingCodes) -> Array:
    """The codes of an Arrow column of words, NaN in the gaps, -1 for what is no label."""
    encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    codes = FactorizedColumn.of(encoded.dictionary.to_pylist(), gaps).mapped(label_encoder(labels))
    places = encoded.indices.cast("int64").fill_null(len(codes))
    found: Array = np.append(codes, np.nan)[places.to_numpy(zero_copy_only=False)]
    return found
