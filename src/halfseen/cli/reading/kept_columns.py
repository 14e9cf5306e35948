"""Columns of a file that are no part of a model, read beside it."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from halfseen.cli.reading.fitting import CHUNK, Fitting
from halfseen.cli.reading.known_names import check_known, check_named
from halfseen.tables.file_source import FileSource
from halfseen.tables.sparse_file import SparseSource


def kept_names(fitting: Fitting, keep: Sequence[str], model_columns: Sequence[str]) -> list[str]:
    """Columns of the file that are written beside the result."""
    if not keep:
        return []
    source = fitting.source
    check_named(source.named, fitting.file, "--keep")
    known, everything = source.all_names, list(keep) == ["*"]
    check_known([] if everything else keep, known, fitting.file, "--keep")
    return [name for name in (known if everything else keep) if name not in model_columns]


class Beside:
    """Some columns as they are in the file, as many rows at a time as are asked for."""

    def __init__(self, source: FileSource | SparseSource, names: Sequence[str]):
        self.names = list(names)
        self._batches: Iterator[Any] = iter(())
        self._waiting: Any = None
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


def labels(source: FileSource | SparseSource, file: str, column: str | None) -> Any:
    """The values of a column of the file, one a row; None if no column is named."""
    if column is None:
        return None
    check_named(source.named, file, "--groups")
    check_known([column], source.all_names, file, "--groups")
    if not isinstance(source, FileSource):
        raise AssertionError("only files have names")
    values = [v for batch in source.batches([column], CHUNK) for v in batch.column(0).to_pylist()]
    return np.array(values, dtype=object)
