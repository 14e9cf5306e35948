"""Columns of Python's objects as Arrow columns: numbers, truths, dates, or else words."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

from halfseen.tables.cells.words import is_gap, word_of


def arrow_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Rows of cells as an Arrow table; rows that are too short end in gaps.

    >>> table = arrow_table(["age", "who"], [[61, "Ada"], [40.5]])
    >>> table["age"].to_pylist(), table["who"].to_pylist()
    ([61.0, 40.5], ['Ada', None])
    """
    import pyarrow as pa

    columns = [
        arrow_column([row[place] if place < len(row) else None for row in rows])
        for place in range(len(names))
    ]
    return pa.Table.from_arrays(columns, names=list(names))


def arrow_column(cells: Sequence[Any]) -> Any:
    """An Arrow column of cells that may be of several types."""
    import pyarrow as pa

    known = [None if is_gap(cell) or cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    if not kinds:
        return pa.array([None] * len(known), pa.float64())
    if kinds <= {bool}:
        return pa.array(known, pa.bool_())
    if bool not in kinds and all(issubclass(kind, Real | Decimal) for kind in kinds):
        return _numbers(known)
    if all(issubclass(kind, date) for kind in kinds):
        return pa.array([None if cell is None else _moment(cell) for cell in known])
    return pa.array([word_of(cell, frozenset()) for cell in known], pa.string())


def _numbers(known: Sequence[Any]) -> Any:
    """Whole numbers as such where they need all of their digits, as identifiers do."""
    import pyarrow as pa

    if all(cell is None or isinstance(cell, int) for cell in known):
        try:
            return pa.array(known, pa.int64())
        except OverflowError:
            return pa.array([None if cell is None else str(cell) for cell in known], pa.string())
    return pa.array([None if cell is None else float(cell) for cell in known], pa.float64())


def _moment(cell: date) -> datetime:
    moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
    return moment.replace(tzinfo=None)
