"""A table made ready for a model: columns chosen, put on their scales, named."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halfseen.cli.reading.command_table import Opened, Surveyed, surveyed
from halfseen.cli.reading.given import given
from halfseen.cli.reading.known_names import check_known
from halfseen.cli.reading.numerical import Ends, reckoning
from halfseen.cli.voice import Voice
from halfseen.rows.feature_sums import FeatureSums
from halfseen.tables.door import open_source, rows_of
from halfseen.tables.files import Files
from halfseen.tables.preprocessing import Preprocessing
from halfseen.tables.sparse_file import SparseSource


@dataclass(frozen=True, eq=False)
class Prepared:
    """What an estimator is given of a table."""

    files: Files
    n_rows: int
    n_columns: int
    preprocessing: Preprocessing | None
    features: FeatureSums | None = None  # of the columns in their own units, if they were seen

    @property
    def given(self) -> Any:
        """The table in memory if it is small, or the files."""
        return given(self.files, self.n_rows, self.n_columns)

    def reckoning(self) -> AbstractContextManager[None]:
        """For what is reckoned with the table: failures name a column of it."""
        return reckoning(Path(self.files.path).name, self._ends)

    def _ends(self) -> Ends:
        files = replace(self.files, preprocessing=None)
        source, sums = open_source(files), self.features
        if sums is None:
            sums = rows_of(files, source).accumulate(FeatureSums.of)
        return Ends(source.names, sums.minimum, sums.maximum)

    @property
    def changed(self) -> bool:
        """Whether the model has to know what was done."""
        done = self.preprocessing
        return done is not None and (done.changes or bool(done.missing_values))


def prepared(voice: Voice, table: Opened, log: Sequence[str], standardise: bool) -> Prepared:
    """The table, on the scales that are asked for; told."""
    source = table.source
    if isinstance(source, SparseSource) and not (log or standardise):
        n_rows, n_columns = source.matrix.shape
        counts = f"{n_rows:,} rows and {n_columns:,} columns, {source.matrix.nnz:,} counts."
        voice.note(f"{table.file}: {counts}")
        return Prepared(table.files, n_rows, n_columns, None)
    seen = surveyed(table)
    names = seen.table.source.names
    voice.note(_about(seen), *seen.table.short_notes)
    logged = list(names) if list(log) == ["*"] else log
    check_known(logged, names, table.file, "--log")
    done = Preprocessing.learn_from(
        seen.table.rows(),
        log=logged,
        standardise=standardise,
        missing_values=table.files.missing_values,
        whole=seen.features.whole,
    )
    files = replace(seen.table.files, preprocessing=done if done.changes else None)
    return Prepared(files, seen.n_rows, len(names), done, seen.features)


def _about(seen: Surveyed) -> str:
    n_columns = len(seen.table.source.names)
    known = float(seen.features.count.sum()) / max(seen.n_rows * n_columns, 1)
    return (
        f"{seen.table.file}: {seen.n_rows:,} rows, and {n_columns} columns of numbers in which "
        f"{1 - known:.0%} of the cells are empty."
    )
