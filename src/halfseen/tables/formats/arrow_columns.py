"""Columns as Arrow holds them: what they are, and as floats."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from halfseen.rows.batched import Piece
from halfseen.tables.formats.format import Header


def header_of(schema: Any) -> Header:
    """The columns of a schema, with the index that pandas keeps beside them."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return Header(
        names=tuple(schema.names),
        text={field.name: str(field.type) for field in schema if not _is_number(field.type)},
        aside=frozenset(name for name in stored if isinstance(name, str)),
    )


def pieces_of(batch: Any, names: tuple[str, ...], n_rows: int) -> Iterator[Piece]:
    """A record batch in parts of at most ``n_rows`` rows; copies nothing."""
    for start in range(0, batch.num_rows, n_rows):
        part = batch.slice(start, n_rows)
        yield Piece(part.num_rows, partial(_floats, part, names))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _floats(batch: Any, names: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Columns as floats, nulls as NaN, float32 if all are; column after column, as Arrow does."""
    from pyarrow import float32, float64

    columns = [batch.column(name) for name in names]
    single = all(column.type == float32() for column in columns)
    table = np.empty((batch.num_rows, len(names)), np.float32 if single else np.float64, order="F")
    for place, column in enumerate(columns):
        if column.type not in (float32(), float64()):
            column = column.cast(float64(), safe=False)  # large integers lose digits, as in NumPy
        table[:, place] = column.to_numpy(zero_copy_only=False)
    return table
