"""Tables handed over in memory, for what does not read files a batch at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.engines.batched import Source, rows_a_batch
from halfseen.io.files import Files
from halfseen.io.open_table import open_source
from halfseen.io.sparse_file import SparseSource
from halfseen.io.studies import Studies

SMALL = 64e6
"""Bytes of a table that is rather read once than once for every pass over it."""


def given(files: Files, n_rows: int, n_columns: int) -> Any:
    """What an estimator is given: a table in memory if that is small, or else the files."""
    return in_memory(files) if 8 * n_rows * n_columns <= SMALL else files


def in_memory(files: Files) -> Any:
    """The table of files, with names if its columns have any.

    A sparse file is given as it is: whether to write out its zeros is for the estimator to say. So
    are several tables, which the estimator is to know apart.
    """
    source, done = open_source(files), files.preprocessing
    if isinstance(files, Studies) or (isinstance(source, SparseSource) and done is None):
        return files
    values = all_rows(source, files.memory)
    if done is not None and done.changes:
        return with_names(done.fitted_names, done.apply(values))
    return with_names(source.names, values) if source.named else values


def all_rows(source: Source, memory: float) -> Array:
    """The whole table as floats, NaN in the gaps."""
    every = tuple(range(len(source.names)))
    pieces = source.pieces(every, rows_a_batch(memory, len(every), 1))
    nothing = np.empty((0, len(every)))
    return np.concatenate([nothing, *(piece.table() for piece in pieces)])


def with_names(names: Sequence[str], values: Any) -> Any:
    """A table whose columns have names, for an estimator to keep."""
    import pyarrow as pa

    return pa.table([np.ascontiguousarray(column) for column in values.T], names=list(names))
