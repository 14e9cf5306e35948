"""Columns of a file as they are there, read beside the numbers of a model."""

from collections.abc import Iterator, Sequence
from typing import Any

from halfseen.io.file_source import FileSource
from halfseen.io.sparse_file import SparseSource

CHUNK = 20_000
"""Rows that a model is given at a time, and between two steps of a progress bar."""


def with_columns(source: FileSource | SparseSource) -> FileSource | SparseSource:
    """The source itself, or the file whose text was counted: what has other columns."""
    beside = source.beside if isinstance(source, SparseSource) else None
    return source if beside is None else beside


class Beside:
    """Some columns as they are in the file, as many rows at a time as are asked for."""

    def __init__(self, source: FileSource | SparseSource, names: Sequence[str]):
        self.names = list(names)
        self._batches: Iterator[Any] = iter(())
        self._waiting: Any = None
        source = with_columns(source)
        if names and isinstance(source, FileSource):
            self._batches = source.batches(self.names, CHUNK)

    def take(self, n_rows: int) -> dict[str, Any]:
        """The next so many rows of each column."""
        import pyarrow as pa

        if not self.names:
            return {}
        while self._waiting is None or self._waiting.num_rows < n_rows:
            batch = next(self._batches, None)
            if batch is None:
                break
            more = pa.Table.from_batches([batch])
            self._waiting = more if self._waiting is None else _joined(self._waiting, more)
        if self._waiting is None:
            return {name: pa.nulls(0) for name in self.names}
        taken, self._waiting = self._waiting[:n_rows], self._waiting[n_rows:]
        return {name: taken[name] for name in self.names}


def _joined(one: Any, other: Any) -> Any:
    import pyarrow as pa

    return pa.concat_tables([one, other], promote_options="permissive")
