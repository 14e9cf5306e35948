"""Columns that say where gaps were, beside a filled table."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from halfseen.rows.arrays import Mask
from halfseen.tables.containers import as_frame


def with_indicators(filled: Any, gaps: Mask, names: Mapping[int, str]) -> Any:
    """A table with a column for each of some columns, given by number, that says where it lacked.

    ``gaps`` (n, d) are those of the table before it was filled.
    """
    frame = as_frame(filled)
    if frame is None:
        return np.hstack([filled, gaps[:, list(names)].astype(filled.dtype)])
    if not names:
        return filled
    like = next(frame.iter_columns())
    columns = [
        nw.new_series(name, np.ascontiguousarray(gaps[:, place]), backend=like.implementation)
        for place, name in names.items()
    ]
    if frame.implementation.is_pandas_like():
        index = frame.to_native().index
        columns = [_indexed(column, index) for column in columns]
    return frame.with_columns(*columns).to_native()


def _indexed(column: Any, index: Any) -> Any:
    native = column.to_native()
    native.index = index
    return nw.from_native(native, series_only=True)
