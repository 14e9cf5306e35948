"""The rows of a table as a plan has them: its columns, clipped to its ranges."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone

from halfseen.estimators.plan import Plan
from halfseen.rows.arrays import Array
from halfseen.rows.engines.changed import ChangedRows
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.engines.widened import WidenedRows
from halfseen.rows.errors import DataError, warn
from halfseen.rows.naming import quoted
from halfseen.rows.rows import Block
from halfseen.tables.coding import Coding
from halfseen.tables.column_order import column_names
from halfseen.tables.containers import as_frame
from halfseen.tables.declared_kinds import takes_kinds
from halfseen.tables.door import open_rows
from halfseen.tables.files import Files
from halfseen.tables.opened_files import names_in
from halfseen.tables.sparse_file import is_sparse_file


class ClippedWarning(UserWarning):
    """Cells are beyond the ranges of a plan."""


N_QUANTILES = 201
"""Of a column in the stand-in: so many that none of them is common."""


def agreed_rows(estimator: Any, X: Any, plan: Plan) -> ChangedRows:
    """The rows of ``X``, whatever ``fit`` takes, with the plan's columns; what it lacks is gaps."""
    files = Files(X) if isinstance(X, str | Path) else X
    known = _names(files)
    there = plan.names if known is None else tuple(n for n in plan.names if n in set(known))
    if not there:
        raise DataError(
            f"The table has none of the columns of the plan ({_told(plan)}). "
            "Rename its columns, or give another table."
        )
    reader = clone(estimator)
    coding = _part(plan.coding, there) if takes_kinds(estimator) else None
    rows, _ = open_rows(reader, _taken(files, known, there), None, None, coding)
    if len(rows.names) != len(there):
        raise DataError(
            f"The table has {len(rows.names)} columns and the plan {len(there)}. Give the same "
            "columns, or a table whose columns have names."
        )
    if not set(rows.names) <= set(plan.names):
        raise DataError(
            f"The columns of the table are called {quoted(rows.names, range(len(rows.names)), 5)}, "
            f"and those of the plan {_told(plan)}. Name them alike."
        )
    wide = rows if rows.names == plan.names else WidenedRows(rows, plan.names)
    return ChangedRows.of(wide, as_agreed(plan))


def warn_of_clipped(rows: ChangedRows, plan: Plan) -> None:
    """Say which columns have cells beyond the plan's ranges: their owner alone can know why."""
    low, high = plan.each("low"), plan.each("high")

    def beyond(block: Block) -> Array:
        outside = ((block.values < low) | (block.values > high)) & block.observed
        number: Array = outside.sum(axis=0).astype(float)
        return number

    number = rows.rows.accumulate(beyond)
    for i in np.flatnonzero(number):
        cells = "1 cell" if number[i] == 1 else f"{number[i]:,.0f} cells"
        warn(
            f"{cells} of '{plan.names[i]}' {'is' if number[i] == 1 else 'are'} beyond the plan's "
            f"range, {low[i]:g} to {high[i]:g}, and count as its ends. Agree on a wider range, "
            "unless they are errors or few.",
            ClippedWarning,
        )


def _told(plan: Plan) -> str:
    return quoted(plan.names, range(len(plan.names)))


def _names(X: Any) -> tuple[str, ...] | None:
    """The names of all columns, if the table has some."""
    if isinstance(X, Files):
        return None if is_sparse_file(X.single) else tuple(map(str, names_in(X)))
    return tuple(map(str, column_names(X))) or None


def _taken(X: Any, known: tuple[str, ...] | None, names: tuple[str, ...]) -> Any:
    """Only some of the columns of a table."""
    if known is None:
        return X
    if isinstance(X, Files):
        return replace(X, columns=list(names))
    frame = as_frame(X)
    return X[list(names)] if frame is None else frame.select(list(names)).to_native()


def _part(coding: Coding, names: tuple[str, ...]) -> Coding:
    places = [coding.names.index(name) for name in names]
    return Coding(
        names,
        tuple(coding.kinds[i] for i in places),
        tuple(coding.labels[i] for i in places),
        tuple(coding.sentences[i] for i in places),
    )


def as_agreed(plan: Plan) -> Callable[[Block], Block]:
    """What makes a block of the plan's columns as the plan has them.

    Values are clipped to their ranges, numbers that are none of a column's values are gaps, and
    rows longer than the norm for noise are shortened towards the origin.
    """
    low, high = plan.each("low"), plan.each("high")
    origin, scale = plan.each("origin"), plan.each("scale")
    levels = [column.levels for column in plan.columns]
    norm = None if plan.noise is None else plan.noise.norm

    def agreed(block: Block) -> Block:
        values, observed = block.values, block.observed
        for i, own in enumerate(levels):
            if len(own):
                some = np.isin(np.clip(values[:, i], low[i], high[i]), own)
                observed = observed.copy() if not some.all() else observed
                observed[:, i] &= some
        values = np.clip(values, low, high) * observed
        if norm is not None:
            values = _shortened(values, observed, origin, scale, norm)
        return Block(values, observed, block.weights, block.start, block.sequence)

    return agreed


def _shortened(
    values: Array, observed: np.ndarray[Any, Any], origin: Array, scale: Array, norm: float
) -> Array:
    deviations = (values - origin) / scale * observed
    length = np.sqrt((deviations**2).sum(axis=1, keepdims=True))
    shrunk = deviations * np.minimum(1.0, norm / np.maximum(length, 1e-300))
    shortened: Array = (origin + shrunk * scale) * observed
    return shortened


def stand_in(plan: Plan, levels: Array) -> MemoryRows:
    """A table of one cell a row that no place holds: what a plan says of its columns.

    Each value of a column as often as ``levels`` (l,) count it in all places, and quantiles of a
    bell of the planned origin and scale where a column holds numbers.
    """
    d, cells, weights, at = len(plan.columns), [], [], 0
    bell = ndtri((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES)
    for i, column in enumerate(plan.columns):
        values = column.levels
        if len(values):
            often = levels[at : at + len(values)]
            at += len(values)
        else:
            values = np.clip(column.origin + column.scale * bell, column.low, column.high)
            often = np.ones(len(values))
        rows = np.full((len(values), d), np.nan)
        rows[:, i] = values
        cells.append(rows)
        weights.append(often)
    table, counts = np.vstack(cells), np.concatenate(weights)
    return MemoryRows(table[counts > 0], plan.names, counts[counts > 0])
