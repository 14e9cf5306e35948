"""Every container that tables with words come in, and the cells that come back in it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa

from benchmarks.attack.containers import named
from benchmarks.attack.words import GAPS, Cells

Rng = np.random.Generator
Given = tuple[Any, Cells]
"""What is handed over, and the cells that are in it."""


def _with_any_gaps(rng: Rng, cells: Cells) -> Cells:
    """The same, with whatever stands for a gap in it."""
    given = cells.copy()
    gaps = np.array([cell is None for cell in cells.flat], dtype=bool).reshape(cells.shape)
    for place in np.argwhere(gaps):
        given[tuple(place)] = GAPS[rng.integers(len(GAPS))]
    return given


def _array(rng: Rng, cells: Cells) -> Given:
    return _with_any_gaps(rng, cells), cells


def _lists(rng: Rng, cells: Cells) -> Given:
    return _with_any_gaps(rng, cells).tolist(), cells


def _of_text(rng: Rng, cells: Cells) -> Given:
    """An array in which everything is text."""
    text = _as_text(cells)
    return np.where(text == None, "NA", text).astype(str), text  # noqa: E711 - cell by cell


def _as_text(cells: Cells) -> Cells:
    made = [[None if cell is None else str(cell) for cell in row] for row in cells]
    return np.array(made, dtype=object).reshape(cells.shape)


def _typed(cells: Cells) -> Cells:
    """Cells of which all of a column are numbers, or truths, or text."""
    made = cells.copy()
    for place in range(cells.shape[1]):
        kinds = {type(cell) for cell in cells[:, place] if cell is not None}
        if len(kinds) > 1 or not kinds <= {float, bool, str}:
            made[:, [place]] = _as_text(cells[:, [place]])
    return made


def _pandas(rng: Rng, cells: Cells) -> Given:
    given = pd.DataFrame(_with_any_gaps(rng, cells), columns=named(cells), dtype=object)
    given.index = np.arange(len(cells))[::-1]
    return given, cells


def _pandas_typed(rng: Rng, cells: Cells, dtype: Any) -> Given:
    cells = _typed(cells)
    columns = {
        name: pd.Series(column.tolist(), dtype=dtype if _words(column) else None)
        for name, column in zip(named(cells), cells.T, strict=True)
    }
    return pd.DataFrame(columns, index=range(len(cells))), cells


def _words(column: Cells) -> bool:
    return any(isinstance(cell, str) for cell in column)


def _ordered(rng: Rng, cells: Cells) -> Given:
    """Categories in an order of their own, some of which no cell has."""
    cells = _typed(cells)
    columns = {}
    for name, column in zip(named(cells), cells.T, strict=True):
        words = dict.fromkeys(cell for cell in column if isinstance(cell, str))
        order = rng.permutation([*words, "never there"]).tolist()
        kind = pd.CategoricalDtype(order, ordered=True) if words else None
        columns[name] = pd.Series(column.tolist(), dtype=kind)
    return pd.DataFrame(columns, index=range(len(cells))), cells


def _polars(rng: Rng, cells: Cells, kind: Callable[[Cells], Any]) -> Given:
    cells = _typed(cells)
    columns = [
        pl.Series(name, column.tolist(), dtype=kind(column) if _words(column) else None)
        for name, column in zip(named(cells), cells.T, strict=True)
    ]
    return pl.DataFrame(columns), cells


def _enum(column: Cells) -> Any:
    return pl.Enum(list(dict.fromkeys(cell for cell in column if cell is not None)))


def _arrow(rng: Rng, cells: Cells, kind: Any, names: list[str] | None = None) -> Given:
    cells = _typed(cells)
    arrays = [
        pa.array(column.tolist(), type=kind if _words(column) else None) for column in cells.T
    ]
    return pa.table(arrays, names=names or named(cells)), cells


def arrow_of(rng: Rng, cells: Cells) -> Given:
    """An Arrow table of text as files have it: as such, or as numbers of words."""
    kinds = (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()))
    return _arrow(rng, cells, kinds[rng.integers(3)], [f"c{i}" for i in range(cells.shape[1])])


def _batches(rng: Rng, cells: Cells) -> Given:
    given, cells = _pandas(rng, cells) if rng.random() < 0.5 else _array(rng, cells)
    cut = len(cells) // 2
    return [given[:cut], given[cut:]], cells


WORD_CONTAINERS: dict[str, Callable[[Rng, Cells], Given]] = {
    "array": _array,
    "lists": _lists,
    "text": _of_text,
    "pandas": _pandas,
    "pandas strings": partial(_pandas_typed, dtype="string"),
    "pandas categories": partial(_pandas_typed, dtype="category"),
    "pandas in order": _ordered,
    "polars": partial(_polars, kind=lambda column: pl.String),
    "polars categories": partial(_polars, kind=lambda column: pl.Categorical),
    "polars enumerations": partial(_polars, kind=_enum),
    "arrow": partial(_arrow, kind=pa.string()),
    "arrow of large text": partial(_arrow, kind=pa.large_string()),
    "arrow dictionaries": partial(_arrow, kind=pa.dictionary(pa.int8(), pa.string())),
    "batches": _batches,
}


def draw(rng: Rng, cells: Cells) -> Given:
    """An array of objects mostly, or any of the others."""
    if rng.random() < 0.4:
        return _array(rng, cells)
    return WORD_CONTAINERS[list(WORD_CONTAINERS)[rng.integers(len(WORD_CONTAINERS))]](rng, cells)


def as_cells(table: Any) -> Cells:
    """The cells (n, d) of a table that came back, whatever it came in."""
    if isinstance(table, list) and table and hasattr(table[0], "shape"):
        return np.concatenate([as_cells(part) for part in table])
    if isinstance(table, pa.Table):
        columns = [column.to_pylist() for column in table.columns]
    elif isinstance(table, pl.DataFrame):
        columns = [column.to_list() for column in table.iter_columns()]
    elif isinstance(table, pd.DataFrame):
        columns = [column.tolist() for _, column in table.items()]
    else:
        return np.array(table, dtype=object)
    made = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        made[:, place] = column
    return made
