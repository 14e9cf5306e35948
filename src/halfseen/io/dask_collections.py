"""Dask's arrays and data frames, as partitions of which each is a table."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from scipy.sparse import csr_array, issparse

from halfseen.data.arrays import Array
from halfseen.data.engines.batched import BatchedRows, all_columns
from halfseen.data.engines.dask_rows import ClusterRows, View, computed, naming, partitioned, tree
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError
from halfseen.data.rows import S
from halfseen.io.batches import BatchReader
from halfseen.io.file_source import FilePart, FileSource
from halfseen.io.formats.arrow_files import MemoryTables
from halfseen.io.sparse_matrix import read_sparse
from halfseen.io.studies import is_dask as is_dask
from halfseen.io.validation import listener, read_batch


class Partitions(NamedTuple):
    """The partitions of a Dask collection."""

    example: Any  # a row or two of the right kind, type and columns
    delayed: list[Any]  # a table each
    lengths: list[int | None]  # their rows, None where only computing tells

    @property
    def labelled(self) -> list[tuple[str, Any]]:
        """Partitions with their numbers, for errors."""
        return [(f"Partition {number}", part) for number, part in enumerate(self.delayed)]


def partitions_of(X: Any) -> Partitions:
    """The partitions of a ``dask.array`` or a ``dask.dataframe``."""
    kind = type(X).__module__
    if kind.startswith("dask.array"):
        return _parts_of_array(X)
    if kind.startswith("dask.dataframe"):
        frames = X.to_delayed()
        return Partitions(X._meta_nonempty, frames, [None] * len(frames))
    raise DataError(
        f"A {type(X).__name__} of Dask is not a table. Give a dask.array with two dimensions or a "
        "dask.dataframe."
    )


def _parts_of_array(X: Any) -> Partitions:
    if X.ndim != 2:
        return Partitions(
            np.zeros((1,) * X.ndim), [], []
        )  # which is refused as arrays in memory are
    if np.isnan(X.shape[1]):
        raise DataError(
            "The dask.array does not know how many columns it has. Call its compute_chunk_sizes() "
            "first."
        )
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    row = np.zeros((1, X.shape[1]), X.dtype)
    example = csr_array(row) if issparse(X._meta) else row
    lengths = [None if np.isnan(n) else int(n) for n in X.chunks[0]]
    return Partitions(example, X.to_delayed().ravel().tolist(), lengths)


def sum_over_partitions(parts: Partitions, look: Callable[[Any], S]) -> S:
    """The sum of a function over all partitions, in order."""
    from dask import delayed

    call, token = delayed(_looked, traverse=False), uuid4().hex
    once = delayed(look, name=f"halfseen-look-{token}", traverse=False)
    seen = [
        call(once, label, part, dask_key_name=f"halfseen-{token}-{number}")
        for number, (label, part) in enumerate(parts.labelled)
    ]
    total: S = computed(tree(seen, token), parts.labelled)
    return total


def _looked(look: Callable[[Any], S], label: str, part: Any) -> S:
    with naming(label):
        return look(part)


def rows_of_collection(
    parts: Partitions, names: tuple[str, ...], weights: Array | None, read: BatchReader = read_batch
) -> ClusterRows:
    """The rows of a collection with these columns and ``weights`` (n,)."""
    sparse = bool(issparse(parts.example))
    partitions = partitioned(parts.labelled, parts.lengths, _n_rows)
    weighed = tuple(
        p._replace(content=(p.content, None if weights is None else weights[p.rows]))
        for p in partitions
    )
    view = View(partial(_read_sparse, names) if sparse else partial(_read, read, names))
    return ClusterRows(weighed, view, names, sparse)


def rows_of_files(source: FileSource, memory: float) -> ClusterRows:
    """The rows of files that the workers read themselves."""
    from dask import delayed

    parts = source.parts()
    contents = [
        (
            f"Partition {number} ({part.name})",
            _on_worker(delayed(part.source, traverse=False), part),
        )
        for number, part in enumerate(parts)
    ]
    partitions = partitioned(contents, [part.n_rows for part in parts], _n_rows_of_file)
    return ClusterRows(partitions, View(partial(_read_file, memory)), source.names)


def _on_worker(source: Any, part: FilePart) -> Any:
    from dask import delayed

    return source if part.content is None else delayed(_holding)(source, part.content)


def _holding(source: FileSource, table: Any) -> FileSource:
    file = source.files[0]._replace(format=MemoryTables.of(table))
    return replace(source, files=(file,))


def _n_rows(table: Any) -> int:
    return int(table.shape[0])


def _n_rows_of_file(source: FileSource) -> int:
    return sum(piece.n_rows for piece in source.pieces((0,), 1 << 20))


def _read(read: BatchReader, names: tuple[str, ...], content: Any, first: int) -> MemoryRows:
    table, weights = content
    batch = read(table)
    if batch.values.shape[1] != len(names):
        raise DataError(f"It has {batch.values.shape[1]} columns, but the table has {len(names)}.")
    return MemoryRows(batch.values, names, weights, first=first)


def _read_sparse(names: tuple[str, ...], content: Any, first: int) -> SparseRows:
    matrix, weights = content
    return read_sparse(listener(), matrix, reset=True, weights=weights, first=first)


def _read_file(memory: float, source: FileSource, first: int) -> BatchedRows:
    return all_columns(source, memory=memory, first=first)
