"""Read the table to learn from: choose its columns, and say what was done to each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from halfseen.cli.input_files import all_names, as_arguments, check_known
from halfseen.cli.messages import in_options
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Rows, side_by_side
from halfseen.io.coding import Coding
from halfseen.io.columns import Column, column_messages, mark_constant
from halfseen.io.file_source import FileSource
from halfseen.io.files import Files
from halfseen.io.open_files import Kinds, non_numeric_names
from halfseen.io.open_source import open_source, rows_of, with_harmonization
from halfseen.io.sparse_matrix import SparseSource, is_sparse_file
from halfseen.moments.survey import check_finite

MOST_NAMED = 5  # columns that a fit names of those that were left aside for the same reason


@dataclass(eq=False)
class TrainingTable:
    """A table in files, before its rows are read."""

    files: Files  # with the columns that can be used
    source: FileSource | SparseSource
    columns: tuple[Column, ...]
    kinds: Kinds | None = None  # that columns are declared to be, if words are read as codes

    @property
    def sparse(self) -> bool:
        """Whether only what is not zero is stored."""
        return isinstance(self.source, SparseSource)

    def notes(self, *, short: bool = False) -> list[str]:
        """Notes on files and columns; ``short`` names only the first of many."""
        own = self.source.table_notes if isinstance(self.source, FileSource) else []
        of_files = [*self.source.notes, *own]
        notes = [*of_files, *map(in_options, column_messages(self.columns))]
        first = [*of_files, *map(in_options, column_messages(self.columns, most=MOST_NAMED))]
        if not short or first == notes:
            return notes
        where = f"'halfseen describe {as_arguments(self.files, learning=True)}' names all of them."
        return [*first, where]

    @property
    def coding(self) -> Coding | None:
        """The coding of words, if there are any."""
        return None if isinstance(self.source, SparseSource) else self.source.coding

    @property
    def worded(self) -> list[str]:
        """The columns that hold words."""
        return [] if self.coding is None else non_numeric_names(self.coding)

    def rows(self) -> Rows:
        """The rows of usable columns."""
        if isinstance(self.source, SparseSource) and self.files.preprocessing is None:
            return self.source.rows()
        return rows_of(self.files, self.source)

    @cached_property
    def seen(self) -> "SurveyedTable":
        """The survey of the table, in one pass."""
        return survey(self)


@dataclass(frozen=True, eq=False)
class SurveyedTable:
    """A table without constant columns, and its sums."""

    table: TrainingTable
    features: FeatureSums
    sums: tuple[Any, ...]  # of all that was asked for beside

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.features.n_rows) + self.features.n_empty


def open_table(
    data: Files,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    *,
    workers: bool = False,
    show_text: bool = False,
    kinds: Kinds | None = None,
) -> TrainingTable:
    """Open the table in files.

    With ``kinds``, which says what columns are declared to be, they may hold words too.
    """
    files = replace(data, dask=workers, show_text=show_text)
    if workers and is_sparse_file(data.single):
        raise DataError(
            f"{data.name} holds a sparse matrix, which is read as a whole. Leave out --cluster and "
            "--workers, or use a dask.array with blocks of CSR from Python."
        )
    if columns or drop:
        known = all_names(data)
        for option, names in (("--columns", columns), ("--drop", drop)):
            check_known(names, known, data.name, option)
        if not set(columns or known) - set(drop):
            what = "numbers" if kinds is None else "numbers or categories"
            raise DataError(
                f"No column of {what} is left in {data.name}. Give a table that holds some."
            )
    files = replace(files, columns=list(columns) or None, drop=tuple(drop))
    files = with_harmonization(files, kinds)
    source = open_source(files, kinds)
    return TrainingTable(files, source, source.columns, kinds)


def survey(table: TrainingTable, *summaries: Any) -> SurveyedTable:
    """Drop constant and empty columns, in one pass over the rows.

    ``summaries`` are summed in the same pass; what they give has ``select``.
    """
    rows = table.rows()
    features, *others = rows.accumulate(side_by_side(FeatureSums.of, *summaries)).each
    check_finite(rows.names, features)
    columns = mark_constant(table.columns, rows.names, features, table.worded)
    used = {column.name for column in columns if column.used}
    kept = np.array([name in used for name in rows.names])
    if not kept.any():
        raise DataError(
            f"No column of {table.files.name} varies, so there is nothing to learn. Give a table "
            "with columns that do."
        )
    names = [name for name in rows.names if name in used]
    files = replace(table.files, columns=names, drop=())
    narrow = TrainingTable(files, open_source(files, table.kinds), columns, table.kinds)
    return SurveyedTable(narrow, features.select(kept), tuple(sums.select(kept) for sums in others))
