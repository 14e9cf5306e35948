"""A table made ready for a model: columns chosen, put on their scales, named."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

import numpy as np

from halfseen.cli.reading.column_kinds import column_kinds
from halfseen.cli.reading.command_table import Opened, Surveyed
from halfseen.cli.reading.given import given
from halfseen.cli.reading.known_names import check_known
from halfseen.cli.reading.numerical import Ends, reckoning
from halfseen.cli.voice import Voice
from halfseen.data.arrays import Mask
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import percent
from halfseen.io.columns import Column
from halfseen.io.files import Files
from halfseen.io.open_files import Kinds
from halfseen.io.open_table import open_source, rows_of
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sparse_file import SparseSource


@dataclass(frozen=True, eq=False)
class Prepared:
    """What an estimator is given of a table."""

    files: Files
    n_rows: int
    n_columns: int
    preprocessing: Preprocessing | None
    features: FeatureSums | None = None  # of the columns in their own units, if they were seen
    kinds: Kinds | None = None  # that columns are declared to be, if words are read as codes
    columns: tuple[Column, ...] = ()  # what became of each, where columns have names

    @property
    def given(self) -> Any:
        """The table in memory if it is small, or the files, which alone tell words from codes."""
        return self.files if self.kinds else given(self.files, self.n_rows, self.n_columns)

    def reckoning(self) -> AbstractContextManager[None]:
        """For what is reckoned with the table: failures name a column of it."""
        return reckoning(self.files.name, self._ends)

    def _ends(self) -> Ends:
        files = replace(self.files, preprocessing=None)
        source, sums = open_source(files, self.kinds), self.features
        if sums is None:
            sums = rows_of(files, source).accumulate(FeatureSums.of)
        return Ends(source.names, sums.minimum, sums.maximum)

    @property
    def changed(self) -> bool:
        """Whether the model has to know what was done."""
        done = self.preprocessing
        return done is not None and (done.changes or done.says)


def prepared(voice: Voice, table: Opened, log: Sequence[str], standardise: bool) -> Prepared:
    """The table, on the scales that are asked for; told."""
    source = table.source
    if isinstance(source, SparseSource) and not (log or standardise):
        n_rows, n_columns = source.matrix.shape
        counts = f"{n_rows:,} rows and {n_columns:,} columns, {source.matrix.nnz:,} counts."
        voice.note(f"{table.file}: {counts}", *source.notes)
        return Prepared(table.files, n_rows, n_columns, None)
    seen = table.seen
    names = seen.table.source.names
    voice.note(_about(seen), *seen.table.short_notes)
    scaled = bool(log) or standardise
    measured = _measured(seen) if scaled and table.kinds is not None else np.ones(len(names), bool)
    logged = list(log)
    if logged == ["*"]:
        logged = [name for name, one in zip(names, measured, strict=True) if one]
    check_known(logged, names, table.file, "--log")
    _check_measured(logged, names, measured, seen)
    done = Preprocessing.learn_from(
        seen.table.rows(),
        log=logged,
        standardise=standardise,
        missing_values=table.files.gap_codes,
        whole=seen.features.whole,
        measured=measured,
    )
    done = replace(done, **_said(seen.table))
    files = replace(seen.table.files, preprocessing=done if done.changes else None)
    columns = seen.table.columns if source.named else ()
    return Prepared(files, seen.n_rows, len(names), done, seen.features, table.kinds, columns)


def _said(table: Opened) -> dict[str, Any]:
    """What people said of cells, by which new tables are read too."""
    files, source = table.files, table.source
    if isinstance(source, SparseSource):
        return {}
    written = {name: one for file in source.files for name, one in file.written.items()}
    return {
        "dates": files.dates or "",
        "decimal": files.decimal or "",
        "absent_as_zero": tuple(n for n in source.names if written[n].absent_as_zero),
    }


def _measured(seen: Surveyed) -> Mask:
    """Columns of numbers that are neither codes nor counts; (d,)."""
    kinds = column_kinds(seen)
    return np.array([kinds[name].measured for name in seen.table.source.names])


def _check_measured(
    logged: Sequence[str], names: Sequence[str], measured: Mask, seen: Surveyed
) -> None:
    """Refuse logarithms of what has none that would mean anything."""
    others = {name for name, one in zip(names, measured, strict=True) if not one}
    wrong = [name for name in logged if name in others]
    if wrong:
        kind, words = column_kinds(seen)[wrong[0]].kind, wrong[0] in seen.table.worded
        remedy = "" if words else f", or say that it is: --kind {quote(f'{wrong[0]}=continuous')}"
        raise ValueError(
            f"--log names '{wrong[0]}', which is {kind}, and logarithms are for columns that are "
            f"continuous. Leave it out of --log{remedy}."
        )


def _about(seen: Surveyed) -> str:
    n_columns, of = len(seen.table.source.names), "" if seen.table.worded else " of numbers"
    known = float(seen.features.count.sum()) / max(seen.n_rows * n_columns, 1)
    empty = "no cell is empty" if known == 1 else f"{percent(1 - known)} of the cells are empty"
    return f"{seen.table.file}: {seen.n_rows:,} rows, and {n_columns} columns{of} in which {empty}."
