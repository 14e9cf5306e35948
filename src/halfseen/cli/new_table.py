"""Read new tables for a fitted model, in batches of rows."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.sparse import issparse
from sklearn.utils import get_tags

from halfseen.cli.console import Console
from halfseen.cli.input_files import all_names, check_known, check_named
from halfseen.cli.model_input import IN_MEMORY, all_rows, in_memory, numerical_errors, with_names
from halfseen.data.arrays import Array
from halfseen.data.errors import DataError, UnseenCategoryWarning
from halfseen.data.formatting import quoted
from halfseen.io.coding import Coding, numeric_coding, warn_unseen_categories
from halfseen.io.file_source import FileSource
from halfseen.io.files import Files
from halfseen.io.open_files import non_numeric_names, numbers_and_labels
from halfseen.io.open_source import open_source
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sequences import Sequenced
from halfseen.io.source import InSequences
from halfseen.io.sparse_matrix import ObservedBlocks, SparseSource, is_sparse_file
from halfseen.io.studies import KeptTables, harmonise_tables, together

CHUNK_ROWS = 20_000
"""Rows that a model is given at a time, and between two steps of a progress bar."""
CHUNK_CELLS = 1 << 23
"""Cells of a chunk at most, where there are many columns: 64 MB of floats."""


class Chunk(NamedTuple):
    """Some consecutive rows."""

    values: Any  # in their own units, NaN in the gaps; dense or sparse
    given: Any  # for the model's methods
    n_rows: int
    words: Mapping[str, Any] = {}  # columns that hold no numbers, as they are in the file
    sequenced: Sequenced | None = None  # the same with what says how rows follow each other
    observed: ObservedBlocks | None = None  # which rows of sparse values are not missing

    @property
    def options(self) -> dict[str, Any]:
        """Keyword arguments for the model's methods."""
        return {} if self.observed is None else {"observed": self.observed}

    @property
    def X(self) -> Any:
        """The table for the model's methods."""
        return self.given if self.sequenced is None else self.sequenced


@dataclass(eq=False)
class NewTable:
    """A table with the columns of a model."""

    model: Any
    files: Files
    source: FileSource | SparseSource
    coding: Coding | None = None  # in the file's own names, if it has columns of words

    @property
    def X(self) -> Any:
        """The whole table for the model's methods, in memory if it is small."""
        files = replace(self.files, preprocessing=preprocessing_of(self.model))
        n_rows = self.source.n_rows
        small = n_rows is None or 8 * n_rows * len(self.source.names) <= IN_MEMORY
        # Files alone hold the columns by which rows follow each other, and tell words from codes.
        here = small and self.coding is None and not in_sequences(self.model)
        return in_memory(files) if here else files

    @property
    def _worded(self) -> list[str]:
        """Columns that are written as words."""
        return [] if self.coding is None else non_numeric_names(self.coding)

    def chunks(self, console: Console, title: str, *, dense: bool = False) -> Iterator[Chunk]:
        """All rows in order, with a progress bar; one chunk of none if there are none."""
        n_rows = self.source.n_rows
        n_steps = None if n_rows is None else max(-(-n_rows // CHUNK_ROWS), 1)
        yield from console.progress(title, self._chunks(dense), n_steps)

    def _chunks(self, dense: bool) -> Iterator[Chunk]:
        sparse = get_tags(self.model).input_tags.sparse and preprocessing_of(self.model) is None
        if isinstance(self.source, SparseSource) and sparse and not dense:
            matrix = self.source.matrix
            for start in range(0, max(matrix.shape[0], 1), CHUNK_ROWS):
                part, known = matrix[start : start + CHUNK_ROWS], self.source.known
                some = None if known is None else known[start : start + CHUNK_ROWS]
                observed = replace(self.source, matrix=part, known=some).observed
                yield Chunk(part, self._named(part), part.shape[0], observed=observed)
            return
        other_columns = ColumnReader(self.source, self._worded)
        for values in self._tables():
            words = other_columns.read(len(values))
            given = self._as_taken(values, words)
            yield Chunk(values, given, len(values), words, self._in_sequences(given))

    def _in_sequences(self, given: Any) -> Sequenced | None:
        model = self.model
        if not in_sequences(model):
            return None
        keys = InSequences(Sequenced(self.files, None, model.sequence_, model.order_)).keys
        step = None if keys.order is None else model.step_
        return Sequenced(given, None, keys.label, keys.order, step)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A context in which unseen categories are reported once.

        Failures of arithmetic name a column.
        """
        if self.coding is not None and isinstance(self.source, FileSource):
            warn_unseen_categories(self.coding, self.source.n_unseen())
        with warnings.catch_warnings(), self.naming_columns():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            yield

    def naming_columns(self) -> AbstractContextManager[None]:
        """A context in which numerical failures name a column."""
        return numerical_errors(self.files, lambda: self.source)

    def in_units(self, values: Array, *, possible: bool) -> Array:
        """Fills of columns in their own units."""
        done = preprocessing_of(self.model)
        return values if done is None else done.filled(values, possible=possible)

    def spread_in_units(self, values: Array, spread: Array) -> Array:
        """Standard deviations of fills in the columns' own units."""
        done = preprocessing_of(self.model)
        return spread if done is None else done.undo_spread(values, spread)

    def unharmonised(self, values: Array, first: int) -> Array:
        """Adjusted numbers (n, d) from row ``first`` on, in the units of their tables."""
        if not self._tables_of_files.adjusted:
            return values
        own = self._tables_of_files.undone(values, first)
        # What was known went there and back: the last digits are noise of arithmetic.
        return np.array([[float(f"{cell:.12g}") for cell in row] for row in own])

    @cached_property
    def _tables_of_files(self) -> KeptTables:
        """The tables of the files, and by how much each was moved."""
        studies = self.files.studies
        if studies is None or not isinstance(self.source, FileSource):
            return KeptTables.none()
        return harmonise_tables(studies, self.source)

    def _as_taken(self, values: Array, words: Mapping[str, Any]) -> Any:
        done = preprocessing_of(self.model)
        table = values if done is None else done.apply(values)
        if not words or not isinstance(self.source, FileSource):
            return self._named(table)
        own = numbers_and_labels(self.source.names, table, words, self.source.gaps)
        return own.rename_columns([str(name) for name in self.model.feature_names_in_])

    def _named(self, values: Any) -> Any:
        names = getattr(self.model, "feature_names_in_", None)
        # Sparse columns are in the model's order, and have no names that it could look at.
        return values if names is None or issparse(values) else with_names(names, values)

    def _tables(self) -> Iterator[Array]:
        """Floats, as many rows at a time whatever the format of the files."""
        every = tuple(range(len(self.source.names)))
        step = max(min(CHUNK_ROWS, CHUNK_CELLS // max(len(every), 1)), 1)
        if in_sequences(self.model):  # which chunks would cut
            yield all_rows(self.source, self.files.memory)
            return
        waiting = np.empty((0, len(every)))
        any_chunk = False
        for piece in self.source.pieces(every, step):
            waiting = np.concatenate([waiting, piece.table()])
            while len(waiting) >= step:
                yield waiting[:step]
                waiting, any_chunk = waiting[step:], True
        if len(waiting) or not any_chunk:
            yield waiting


class ColumnReader:
    """Reads some columns as they are in the file, in batches."""

    def __init__(self, source: FileSource | SparseSource, names: Sequence[str]):
        self.names = list(names)
        self._batches: Iterator[Any] = iter(())
        self._waiting: Any = None
        source = _with_columns(source)
        if names and isinstance(source, FileSource):
            self._batches = source.batches(self.names, CHUNK_ROWS)

    def read(self, n_rows: int) -> dict[str, Any]:
        """The next rows of each column."""
        while self.names and (self._waiting is None or self._waiting.num_rows < n_rows):
            batch = next(self._batches, None)
            if batch is None:
                break
            tables = [] if self._waiting is None else [self._waiting]
            tables.append(pa.Table.from_batches([batch]))
            self._waiting = pa.concat_tables(tables, promote_options="permissive")
        if self._waiting is None:
            return {name: pa.nulls(0) for name in self.names}
        taken, self._waiting = self._waiting[:n_rows], self._waiting[n_rows:]
        return {name: taken[name] for name in self.names}


def open_new_table(model: Any, data: Files) -> NewTable:
    """Open a table and find its columns by name, or by number without names."""
    data = _as_tables(model, data)
    files = _read_alike(data, preprocessing_of(model))
    names = _column_names(model)
    text = getattr(model, "text_", None)
    if text is not None and not is_sparse_file(data.single):
        files = replace(files, text=text, columns=names)
        return NewTable(model, files, open_source(files))
    if names is None and is_sparse_file(data.single) and data.vocabulary is None:
        files = replace(files, vocabulary=())
    # A sparse matrix for which no words are found has numbers for columns.
    if names is not None and not (is_sparse_file(files.single) and not open_source(files).named):
        _check_names(names, data)
        files = replace(files, columns=names)
    coding = _coding_of_words(model, names)
    # Numbers must be numbers still, whatever few rows of them look like.
    known = coding if names is None else coding or numeric_coding(tuple(names), {})
    source = open_source(files, coding=known)
    if len(source.names) != model.n_features_in_:
        raise DataError(
            f"{data.name} does not fit the model: it has {len(source.names)} columns of numbers, "
            f"and the model was fitted to {model.n_features_in_}. Give the same columns."
        )
    return NewTable(model, files, source, coding)


def in_sequences(model: Any) -> bool:
    """Whether a model, or an imputer, uses sequences."""
    about = getattr(model, "about", None)
    return about is not None and bool(about.sequences)


def preprocessing_of(model: Any) -> Preprocessing | None:
    """The preprocessing before the fit of an estimator."""
    done: Preprocessing | None = getattr(model, "preprocessing_", None)
    return done


def kept_names(table: NewTable, keep: Sequence[str], model_columns: Sequence[str]) -> list[str]:
    """Columns that are copied to the result."""
    if not keep:
        return []
    source, file = _with_columns(table.source), table.files.name
    check_named(source.named and isinstance(source, FileSource), file, "--keep")
    known, everything = source.all_names, list(keep) == ["*"]
    check_known([] if everything else keep, known, file, "--keep")
    return [name for name in (known if everything else keep) if name not in model_columns]


def read_labels(
    source: FileSource | SparseSource, file: str, column: str | None, option: str = "--groups"
) -> Any:
    """The values of a column; None if no column is named."""
    if column is None:
        return None
    source = _with_columns(source)
    if not isinstance(source, FileSource):
        raise ValueError(f"{file} holds counts only, and no labels. Leave {option} out.")
    check_named(source.named, file, option)
    check_known([column], source.all_names, file, option)
    batches = source.batches([column], CHUNK_ROWS)
    return np.array([v for batch in batches for v in batch.column(0).to_pylist()], dtype=object)


def _with_columns(source: FileSource | SparseSource) -> FileSource | SparseSource:
    """The source with the original columns, or the file whose text was counted."""
    beside = source.beside if isinstance(source, SparseSource) else None
    return source if beside is None else beside


def _as_tables(model: Any, data: Files) -> Files:
    """Files for a model of several tables, whose columns may be missing."""
    tables = getattr(model, "tables_", None)
    if data.studies is not None or (tables is not None and _column_names(model) is not None):
        studies = data.studies or together(data)
        return replace(studies, kept=tables or KeptTables.none())
    return data


def _read_alike(data: Files, done: Preprocessing | None) -> Files:
    """Files whose cells are read as in the fit."""
    if done is None:
        return data
    return replace(
        data,
        missing_values=(*done.missing_values, *data.gap_codes),
        dates=data.dates or done.dates or None,
        decimal=data.decimal or done.decimal or None,
        absent_as_zero=data.absent_as_zero or done.absent_as_zero,
    )


def _coding_of_words(model: Any, names: list[str] | None) -> Coding | None:
    """The coding of the words of a file; None without one."""
    coding: Coding | None = getattr(model, "coding_", None)
    if coding is None or not non_numeric_names(coding):
        return None
    return coding if names is None else replace(coding, names=tuple(names))


def _column_names(model: Any) -> list[str] | None:
    """The columns of a model, as files name them; None if it uses numbers."""
    done = preprocessing_of(model)
    if done is not None:
        return list(done.columns)
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _check_names(names: list[str], data: Files) -> None:
    known = all_names(data)
    every = set(known)
    absent = [name for name in names if name not in every]
    if absent and not (data.studies is not None and len(absent) < len(names)):
        raise DataError(
            f"{data.name} does not fit the model: it has no column "
            f"{quoted(absent)}. It has "
            f"{quoted(known, most=12) if known else 'none'}. "
            "Rename columns as they were in the table that the model was fitted to; a column "
            "without values stands for one that was not measured."
        )
