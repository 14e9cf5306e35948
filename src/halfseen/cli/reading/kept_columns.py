"""Columns of a file that are no part of a model, read beside it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from halfseen.cli.reading.beside import CHUNK, with_columns
from halfseen.cli.reading.fitting import Fitting
from halfseen.cli.reading.known_names import check_known, check_named
from halfseen.io.file_source import FileSource
from halfseen.io.sparse_file import SparseSource


def kept_names(fitting: Fitting, keep: Sequence[str], model_columns: Sequence[str]) -> list[str]:
    """Columns of the file that are written beside the result."""
    if not keep:
        return []
    source = with_columns(fitting.source)
    check_named(source.named and isinstance(source, FileSource), fitting.file, "--keep")
    known, everything = source.all_names, list(keep) == ["*"]
    check_known([] if everything else keep, known, fitting.file, "--keep")
    return [name for name in (known if everything else keep) if name not in model_columns]


def labels(
    source: FileSource | SparseSource, file: str, column: str | None, option: str = "--groups"
) -> Any:
    """The values of a column of the file, one a row; None if no column is named."""
    if column is None:
        return None
    source = with_columns(source)
    if not isinstance(source, FileSource):
        raise ValueError(f"{file} holds counts only, and no labels. Leave {option} out.")
    check_named(source.named, file, option)
    check_known([column], source.all_names, file, option)
    values = [v for batch in source.batches([column], CHUNK) for v in batch.column(0).to_pylist()]
    return np.array(values, dtype=object)
