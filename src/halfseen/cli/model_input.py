"""Prepare a table for an estimator: choose, transform and name its columns."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from shlex import quote
from typing import Any

import numpy as np
import pyarrow as pa

from halfseen.cli.column_summary import column_kinds
from halfseen.cli.console import Console
from halfseen.cli.input_files import check_known
from halfseen.cli.options import format_names
from halfseen.cli.training_table import SurveyedTable, TrainingTable
from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.batched import RowReader, rows_a_batch
from halfseen.data.errors import DataError, NumericalDataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import percent, quoted
from halfseen.io.columns import Column
from halfseen.io.file_source import FileSource
from halfseen.io.files import Files
from halfseen.io.open_files import Kinds
from halfseen.io.open_source import open_source, rows_of
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sparse_matrix import SparseSource
from halfseen.moments.survey import strangest

IN_MEMORY = 64e6
"""Bytes up to which a table is read once rather than at every pass over its rows."""


@dataclass(frozen=True, eq=False)
class ModelInput:
    """A table prepared for an estimator."""

    files: Files
    n_rows: int
    n_columns: int
    preprocessing: Preprocessing | None
    features: FeatureSums | None = None  # of the columns in their own units, if they were seen
    kinds: Kinds | None = None  # that columns are declared to be, if words are read as codes
    columns: tuple[Column, ...] = ()  # what became of each, where columns have names

    @property
    def table(self) -> Any:
        """The table in memory if it is small, else the files."""
        small = not self.kinds and 8 * self.n_rows * self.n_columns <= IN_MEMORY
        return in_memory(self.files) if small else self.files

    def naming_columns(self) -> AbstractContextManager[None]:
        """A context in which numerical failures name a column."""
        files = replace(self.files, preprocessing=None)
        return numerical_errors(files, partial(open_source, files, self.kinds), self.features)

    @property
    def changed(self) -> bool:
        """Whether the model must remember preprocessing."""
        done = self.preprocessing
        return done is not None and (done.changes or done.says)


def prepare(
    console: Console, table: TrainingTable, log: Sequence[str], standardise: bool
) -> ModelInput:
    """Apply scales and logarithms, and print what was done."""
    source, file = table.source, table.files.name
    if isinstance(source, SparseSource) and not (log or standardise):
        n_rows, n_columns = source.matrix.shape
        counts = f"{n_rows:,} rows and {n_columns:,} columns, {source.matrix.nnz:,} counts."
        console.note(f"{file}: {counts}", *source.notes)
        return ModelInput(table.files, n_rows, n_columns, None)
    seen = table.seen
    names = seen.table.source.names
    console.note(_size_of(seen), *seen.table.notes(short=True))
    scaled = bool(log) or standardise
    continuous = np.ones(len(names), bool)
    if scaled and table.kinds is not None:
        kinds = column_kinds(seen)
        continuous = np.array([kinds[name].continuous for name in names])
    logged = list(log)
    if logged == ["*"]:
        logged = [name for name, one in zip(names, continuous, strict=True) if one]
    check_known(logged, names, file, "--log")
    _check_continuous(logged, continuous, seen)
    done = Preprocessing.learn_from(
        seen.table.rows(),
        log=logged,
        standardise=standardise,
        missing_values=table.files.gap_codes,
        whole=seen.features.whole,
        measured=continuous,
    )
    done = replace(done, **_cell_formats(seen.table))
    files = replace(seen.table.files, preprocessing=done if done.changes else None)
    columns = seen.table.columns if source.named else ()
    return ModelInput(files, seen.n_rows, len(names), done, seen.features, table.kinds, columns)


def _cell_formats(table: TrainingTable) -> dict[str, Any]:
    """Formats of cells, also for new tables."""
    files, source = table.files, table.source
    if isinstance(source, SparseSource):
        return {}
    written = {name: one for file in source.files for name, one in file.written.items()}
    return {
        "dates": files.dates or "",
        "decimal": files.decimal or "",
        "absent_as_zero": tuple(n for n in source.names if written[n].absent_as_zero),
    }


def _check_continuous(logged: Sequence[str], continuous: Mask, seen: SurveyedTable) -> None:
    """Refuse logarithms of columns that are not continuous."""
    pairs = zip(seen.table.source.names, continuous, strict=True)
    others = {name for name, one in pairs if not one}
    wrong = [name for name in logged if name in others]
    if wrong:
        kind, words = column_kinds(seen)[wrong[0]].kind, wrong[0] in seen.table.worded
        remedy = f", or say that it is: --kind {quote(f'{wrong[0]}=continuous')}"
        raise ValueError(
            f"--log names '{wrong[0]}', which is {kind}, and logarithms are for columns that are "
            f"continuous. Leave it out of --log{'' if words else remedy}."
        )


def _size_of(seen: SurveyedTable) -> str:
    n_columns, of = len(seen.table.source.names), "" if seen.table.worded else " of numbers"
    known = float(seen.features.count.sum()) / max(seen.n_rows * n_columns, 1)
    empty = "no cell is empty" if known == 1 else f"{percent(1 - known)} of the cells are empty"
    return (
        f"{seen.table.files.name}: {seen.n_rows:,} rows, and {n_columns} columns{of} in which "
        f"{empty}."
    )


def in_memory(files: Files) -> Any:
    """The table of files in memory, with names if there are any.

    A sparse file is given as it is: whether to write out its zeros is for the estimator to say. So
    are several tables, which the estimator is to know apart.
    """
    source, done = open_source(files), files.preprocessing
    if files.studies is not None or (isinstance(source, SparseSource) and done is None):
        return files
    values = all_rows(source, files.memory)
    if done is not None and done.changes:
        return with_names(done.fitted_names, done.apply(values))
    return with_names(source.names, values) if source.named else values


def all_rows(source: RowReader, memory: float) -> Array:
    """The whole table as floats, NaN in the gaps."""
    every = tuple(range(len(source.names)))
    pieces = source.pieces(every, rows_a_batch(memory, len(every), 1))
    nothing = np.empty((0, len(every)))
    return np.concatenate([nothing, *(piece.table() for piece in pieces)])


def with_names(names: Sequence[str], values: Any) -> Any:
    """A table with column names."""
    return pa.table([np.ascontiguousarray(column) for column in values.T], names=list(names))


@contextmanager
def numerical_errors(
    files: Files,
    source: Callable[[], FileSource | SparseSource],
    sums: FeatureSums | None = None,
) -> Iterator[None]:
    """Explain numerical failures by the file, the column and a remedy."""
    try:
        yield
    except NumericalDataError as error:
        gaps = "--missing-values and the number as it is written there, or " if error.filled else ""
        raise DataError(
            f"{files.name}: {error} On the command line use {gaps}--drop "
            f"{format_names(error.columns)}."
        ) from error
    except (np.linalg.LinAlgError, ArithmeticError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        found = source()
        sums = sums or rows_of(files, found).accumulate(FeatureSums.of)
        low, high = sums.minimum, sums.maximum
        worst = strangest(low, high)
        raise DataError(
            f"The numbers of {files.name} cannot be computed with ({reason}). Of its columns "
            f"{quoted(found.names, [worst])} stands out, with values from {low[worst]:g} to "
            f"{high[worst]:g}. Write it in a unit in which its values are neither huge nor tiny, "
            f"put it on a log scale with --log, or use --drop {format_names([found.names[worst]])}."
        ) from error
