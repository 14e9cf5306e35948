"""Tables as a fitted model takes them, some rows at a time."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags

from halfseen.cli.reading.beside import CHUNK, Beside
from halfseen.cli.reading.command_table import all_names
from halfseen.cli.reading.given import SMALL, all_rows, in_memory, with_names
from halfseen.cli.reading.numerical import Ends, reckoning
from halfseen.data.arrays import Array
from halfseen.data.errors import DataError, UnseenCategoryWarning
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.io.coding import Coding, numeric_coding, warn_unseen_categories
from halfseen.io.file_source import FileSource
from halfseen.io.files import Files
from halfseen.io.harmonization import harmonise_tables
from halfseen.io.open_files import non_numeric_names, numbers_and_labels
from halfseen.io.open_table import open_source, rows_of
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sequences import Sequenced, keys_of
from halfseen.io.sparse_file import SparseSource, is_sparse_file
from halfseen.io.sparse_matrix import ObservedBlocks
from halfseen.io.studies import KeptTables, Studies, together

MOST_CELLS = 1 << 23


class Chunk(NamedTuple):
    """Some rows, one after another."""

    values: Any  # in their own units, NaN in the gaps; dense or sparse
    given: Any  # for the model's methods
    n_rows: int
    words: Mapping[str, Any] = {}  # columns that hold no numbers, as they are in the file
    sequenced: Sequenced | None = None  # the same with what says how rows follow each other
    observed: ObservedBlocks | None = None  # which rows of sparse values are not missing

    @property
    def options(self) -> dict[str, Any]:
        """What they are given beside it."""
        return {} if self.observed is None else {"observed": self.observed}

    @property
    def asked(self) -> Any:
        """What the model's verbs are given."""
        return self.given if self.sequenced is None else self.sequenced


@dataclass(frozen=True, eq=False)
class Fitting:
    """A table with the columns of a model."""

    model: Any
    files: Files
    source: FileSource | SparseSource
    coding: Coding | None = None  # in the file's own names, if it has columns of words

    @property
    def file(self) -> str:
        """What people call it."""
        return self.files.name

    @property
    def preprocessing(self) -> Preprocessing | None:
        """What the model was fitted to."""
        return preprocessing_of(self.model)

    @property
    def table(self) -> Any:
        """All of it, as the model's verbs take it: in memory if that is small."""
        files = replace(self.files, preprocessing=self.preprocessing)
        # Files alone hold the columns by which rows follow each other.
        small = self._small and self.coding is None and not in_sequences(self.model)
        return in_memory(files) if small else files

    @property
    def worded(self) -> list[str]:
        """The columns that are written as words, or whatever they hold, and not as numbers."""
        return [] if self.coding is None else non_numeric_names(self.coding)

    @property
    def _small(self) -> bool:
        n_rows = self.source.n_rows
        return n_rows is None or 8 * n_rows * len(self.source.names) <= SMALL

    def chunks(self, *, dense: bool = False) -> Iterator[Chunk]:
        """All rows in order; one chunk of none if there are none."""
        sparse = get_tags(self.model).input_tags.sparse and self.preprocessing is None
        if isinstance(self.source, SparseSource) and sparse and not dense:
            matrix = self.source.matrix
            for start in range(0, max(matrix.shape[0], 1), CHUNK):
                part, known = matrix[start : start + CHUNK], self.source.known
                some = None if known is None else known[start : start + CHUNK]
                observed = replace(self.source, matrix=part, known=some).observed
                yield Chunk(part, self._named(part), part.shape[0], observed=observed)
            return
        beside = Beside(self.source, self.worded)
        for values in self._tables():
            words = beside.take(len(values))
            given = self._as_taken(values, words)
            yield Chunk(values, given, len(values), words, self._in_sequences(given))

    def _in_sequences(self, given: Any) -> Sequenced | None:
        """All rows with what says how they follow each other, if the model goes by that."""
        model = self.model
        if not in_sequences(model):
            return None
        keys = keys_of(Sequenced(self.files, None, model.sequence_, model.order_))
        step = None if keys.order is None else model.step_
        return Sequenced(given, None, keys.label, keys.order, step)

    @contextmanager
    def unseen_told(self) -> Iterator[None]:
        """Categories that the fit did not see are told of once, and not with every chunk."""
        if self.coding is not None and isinstance(self.source, FileSource):
            warn_unseen_categories(self.coding, self.source.n_unseen())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            yield

    def reckoning(self) -> AbstractContextManager[None]:
        """For what is reckoned with the table: failures name a column of it."""
        return reckoning(self.file, self._ends)

    def _ends(self) -> Ends:
        sums = rows_of(self.files, self.source).accumulate(FeatureSums.of)
        return Ends(self.source.names, sums.minimum, sums.maximum)

    def in_units(self, values: Array, *, possible: bool) -> Array:
        """What the model fills into these columns, in their own units."""
        done = self.preprocessing
        return values if done is None else done.filled(values, possible=possible)

    def as_in_tables(self, values: Array, first: int) -> Array:
        """Comparable numbers (n, d) from row ``first`` on, as their tables have them."""
        if not self.tables.adjusted:
            return values
        own = self.tables.undone(values, first)
        # What was known went there and back: the last digits are noise of arithmetic.
        return np.array([[float(f"{cell:.12g}") for cell in row] for row in own])

    @cached_property
    def tables(self) -> KeptTables:
        """The tables of the files, and by how much each was moved."""
        if not isinstance(self.files, Studies) or not isinstance(self.source, FileSource):
            return KeptTables.none()
        return harmonise_tables(self.files, self.source)

    def spread_in_units(self, values: Array, spread: Array) -> Array:
        """Standard deviations about what the model fills in, in the columns' own units."""
        done = self.preprocessing
        return spread if done is None else done.undo_spread(values, spread)

    def _as_taken(self, values: Array, words: Mapping[str, Any]) -> Any:
        done = self.preprocessing
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
        step = max(min(CHUNK, MOST_CELLS // max(len(every), 1)), 1)
        if in_sequences(self.model):  # which chunks would cut
            yield all_rows(self.source, self.files.memory)
            return
        waiting = np.empty((0, len(every)))
        told = False
        for piece in self.source.pieces(every, step):
            waiting = np.concatenate([waiting, piece.table()])
            while len(waiting) >= step:
                yield waiting[:step]
                waiting, told = waiting[step:], True
        if len(waiting) or not told:
            yield waiting


def in_sequences(model: Any) -> bool:
    """Whether a model, or an imputer, goes by how rows follow each other."""
    about = getattr(model, "about", None)
    return about is not None and bool(about.sequences)


def fitting(model: Any, data: Files) -> Fitting:
    """The table in a file, with its columns found by name, or by number where it has no names."""
    data = _as_tables(model, data)
    files = _read_alike(data, preprocessing_of(model))
    names = own_names(model)
    text = getattr(model, "text_", None)
    if text is not None and not is_sparse_file(data.single):
        files = replace(files, text=text, columns=names)
        return Fitting(model, files, open_source(files))
    if names is None and is_sparse_file(data.single) and data.vocabulary is None:
        files = replace(files, vocabulary=())
    if names is not None and not _numbered(files):
        _check_names(names, data)
        files = replace(files, columns=names)
    coding = _coding_of_words(model, names)
    # Numbers must be numbers still, whatever few rows of them look like.
    known = coding if names is None else coding or numeric_coding(tuple(names), {})
    source = open_source(files, coding=known)
    _check_number(model, source, data.name)
    return Fitting(model, files, source, coding)


def _as_tables(model: Any, data: Files) -> Files:
    """Files of a model of several tables: tables that may lack what others have."""
    tables = getattr(model, "tables_", None)
    if isinstance(data, Studies) or (tables is not None and own_names(model) is not None):
        studies = data if isinstance(data, Studies) else together(data)
        return replace(studies, kept=tables or KeptTables.none())
    return data


def _read_alike(data: Files, done: Preprocessing | None) -> Files:
    """Files whose cells are read as those were that a model was learned from."""
    if done is None:
        return data
    return replace(
        data,
        missing_values=(*done.missing_values, *data.gap_codes),
        dates=data.dates or done.dates or None,
        decimal=data.decimal or done.decimal or None,
        absent_as_zero=data.absent_as_zero or done.absent_as_zero,
    )


def _numbered(files: Files) -> bool:
    """Whether a file is a sparse matrix for which no words are found."""
    return is_sparse_file(files.single) and not open_source(files).named


def preprocessing_of(model: Any) -> Preprocessing | None:
    """What was done to the table before an estimator was fitted; imputers take it as it is."""
    done: Preprocessing | None = getattr(model, "preprocessing_", None)
    return done


def _coding_of_words(model: Any, names: list[str] | None) -> Coding | None:
    """How the words of a file become numbers, in its own names; None if there are none."""
    coding: Coding | None = getattr(model, "coding_", None)
    if coding is None or not non_numeric_names(coding):
        return None
    return coding if names is None else replace(coding, names=tuple(names))


def own_names(model: Any) -> list[str] | None:
    """The columns that a model wants, as files name them; None if it goes by number."""
    done = preprocessing_of(model)
    if done is not None:
        return list(done.columns)
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _check_names(names: list[str], data: Files) -> None:
    known = all_names(data)
    every = set(known)
    absent = [name for name in names if name not in every]
    if absent and not (isinstance(data, Studies) and len(absent) < len(names)):
        raise DataError(
            f"{data.name} does not fit the model: it has no column "
            f"{quoted(absent, range(len(absent)))}. It has "
            f"{quoted(known, range(len(known)), most=12) if known else 'none'}. "
            "Rename columns as they were in the table that the model was fitted to; a column "
            "without values stands for one that was not measured."
        )


def _check_number(model: Any, source: FileSource | SparseSource, file: str) -> None:
    if len(source.names) != model.n_features_in_:
        raise DataError(
            f"{file} does not fit the model: it has {len(source.names)} columns of numbers, "
            f"and the model was fitted to {model.n_features_in_}. Give the same columns."
        )
