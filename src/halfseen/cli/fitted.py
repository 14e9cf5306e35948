"""Tables as models take them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.cli.table import Table, read_table
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.preprocessing import Preprocessing

CHUNK = 20_000
"""Rows between two steps of a progress bar."""


def with_names(names: Sequence[str], values: Any) -> Any:
    """A table whose columns have names, for an estimator to keep."""
    import pyarrow as pa

    return pa.table([np.ascontiguousarray(column) for column in values.T], names=list(names))


def own_names(model: Any) -> list[str] | None:
    """The columns that a model wants, as files name them; None if it goes by number."""
    if model.preprocessing_ is not None:
        return list(model.preprocessing_.columns)
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


@dataclass(frozen=True, eq=False)
class Fitting:
    """A table with the columns of a model, in its own units and as the model takes it."""

    table: Table
    given: Any  # for the model's methods
    preprocessing: Preprocessing | None

    def chunk(self, start: int) -> Any:
        """Some rows of ``given``."""
        return self.given[start : start + CHUNK]

    def in_units(self, values: Array) -> Array:
        """What the model says of these columns, in their own units."""
        return values if self.preprocessing is None else self.preprocessing.undo(values)


def fitting(model: Any, path: Path, missing: Sequence[str]) -> Fitting:
    """The table in a file, with its columns found by name."""
    preprocessing = model.preprocessing_
    kept = () if preprocessing is None else preprocessing.missing_values
    names = own_names(model)
    table = read_table(path, (*kept, *missing), wanted=names or ())
    table = _by_number(model, table) if names is None else _by_name(names, table)
    values = table.values if preprocessing is None else preprocessing.apply(table.dense())
    if names is not None:
        values = with_names(model.feature_names_in_, table.dense() if table.sparse else values)
    return Fitting(table, values, preprocessing)


def _by_name(names: list[str], table: Table) -> Table:
    known = set(table.names)
    absent = [name for name in names if name not in known]
    if absent:
        raise DataError(
            f"{table.file} does not fit the model: it has no column "
            f"{quoted(absent, range(len(absent)))}. It has "
            f"{quoted(table.names, range(len(table.names)), most=12) if table.names else 'none'}. "
            "Rename columns as they were in the table that the model was fitted to; a column "
            "without values stands for one that was not measured."
        )
    return table.select(names)


def _by_number(model: Any, table: Table) -> Table:
    if len(table.names) != model.n_features_in_:
        raise DataError(
            f"{table.file} does not fit the model: it has {len(table.names)} columns of numbers, "
            f"and the model was fitted to {model.n_features_in_}. Give the same columns."
        )
    return table
