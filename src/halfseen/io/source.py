"""Where a table comes from: one object for each kind of input, and the one place that finds it.

Whatever a user has (an array, a frame, a sparse matrix, files, batches, a Dask collection, several
tables, sequences of rows) is asked through :class:`Source`, and nothing else asks what it was.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import issparse

from halfseen.data.engines.batched import MEMORY, all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import remedy
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows, whole_table
from halfseen.io.batches import BatchReader, is_batches, open_batches, sum_over_batches
from halfseen.io.coded_tables import (
    LearnedTable,
    as_memory_table,
    batch_evidence,
    count_unseen,
    infer_coding,
    names_of,
    read_and_code,
    read_coded_batch,
)
from halfseen.io.coding import warn_unseen_categories
from halfseen.io.containers import as_frame
from halfseen.io.dask_collections import (
    is_dask,
    partitions_of,
    rows_of_collection,
)
from halfseen.io.file_source import ROWS_A_BATCH
from halfseen.io.files import Files
from halfseen.io.open_files import open_files
from halfseen.io.open_source import (
    check_unweighted,
    code_on_workers,
    open_for,
    table_of_files,
    table_of_sparse,
    warn_of_identifiers,
)
from halfseen.io.sequences import Keys, Sequenced, arrange
from halfseen.io.sparse_matrix import (
    ObservedBlocks,
    SparseSource,
    check_no_blocks,
    check_no_blocks_on_dask,
    is_sparse_file,
    read_sparse,
)
from halfseen.io.table import Reading, Table
from halfseen.io.text import check_vocabulary
from halfseen.io.validation import (
    arrow_batch_as_table,
    check_sample_weight,
    decode_dictionaries,
    listener,
    read_batch,
    read_table,
)


class Source(ABC):
    """A table as a user hands it over, and as often as it is asked for."""

    in_memory: ClassVar[bool] = False
    """Whether all rows lie in memory, in one table."""
    delayed: ClassVar[bool] = False
    """Whether Dask computes the rows."""
    several: ClassVar[bool] = False
    """Whether rows come as several tables, one after another."""
    sparse: ClassVar[bool] = False
    """Whether only what is not zero is stored."""

    def __init__(self, given: Any):
        self.given = given

    @abstractmethod
    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        """The table, to learn from it."""

    @abstractmethod
    def without(self, columns: tuple[str, ...]) -> Any:
        """What was given, without some columns."""

    def tables(self) -> Iterable[Any]:
        """The rows as tables, one after another."""
        return [self.given]

    def cells(self, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
        """The cells of some columns as they are, (n,) each."""
        parts: dict[str, list[Any]] = {name: [] for name in columns}
        for table in self.tables():
            frame = as_frame(decode_dictionaries(arrow_batch_as_table(table)))
            if frame is None:
                raise _nameless(columns)
            _check_known(columns, frame.columns)
            for name in columns:
                parts[name].append(frame[name].to_numpy())
        return {name: np.concatenate(some) for name, some in parts.items()}

    @property
    def files(self) -> Files | None:
        """The files that the rows are in."""
        return None

    @property
    def out_of_memory(self) -> bool:
        """Whether rows are in files or come in batches."""
        return not (self.in_memory or self.delayed)


class InMemory(Source):
    """An array, a data frame, or a list of rows."""

    in_memory = True

    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        if observed is not None:
            check_no_blocks(observed)
        if reading.takes_words:
            learned = read_and_code(self.given, reading)
        else:
            learned = LearnedTable(*read_table(self.given, reading.name))
            if learned.names is not None:  # columns of arrays have no names that could tell
                warn_of_identifiers(learned)
        values, weights = learned.values, None
        if sample_weight is not None:
            weights = check_sample_weight(reading.name, sample_weight, len(values))
        if weights is not None and not weights.all():
            # Rows are known by their numbers, which must not depend on where blocks are cut.
            values, weights = values[weights > 0], weights[weights > 0]
        stages, threads = Stages(len(values), reading.verbose), effective_n_jobs(reading.n_jobs)
        names = tuple(map(str, learned.names or range(values.shape[1])))
        rows = MemoryRows(values, names, weights, threads, stages.told)
        return Table(rows, stages, learned.names, learned.coding, learned.columns)

    def without(self, columns: tuple[str, ...]) -> Any:
        return _without(arrow_batch_as_table(self.given), columns)


class SparseMatrix(InMemory):
    """A sparse matrix, for whoever takes one."""

    sparse = True

    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        if not reading.takes_sparse:
            return super().open(reading, sample_weight, observed)
        return table_of_sparse(self.given, reading, sample_weight, observed, None)


class Batches(Source):
    """A list of tables, or whatever else gives the same ones each time it is gone through."""

    several = True

    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        check_no_blocks(observed)
        # Words are coded by what a pass over all batches finds.
        coding, columns, read = reading.coding, None, read_batch
        if reading.takes_words and coding is None:
            seen = sum_over_batches(self.given, batch_evidence)
            coding, writings, columns = infer_coding(reading.kinds, seen, seen.named)
            read = partial(read_coded_batch, coding, writings)
        elif reading.takes_words and coding is not None:
            unseen = sum_over_batches(self.given, partial(count_unseen, coding))
            warn_unseen_categories(coding, unseen.counts)
            read = partial(read_coded_batch, coding, None)
        source, stages = open_batches(self.given, read), Stages(0, reading.verbose)
        check_unweighted(sample_weight)
        rows = all_columns(source, effective_n_jobs(reading.n_jobs), stages.told, MEMORY)
        names = source.names if source.named else None
        return Table(rows, stages, names, coding if reading.takes_words else None, columns)

    def without(self, columns: tuple[str, ...]) -> Any:
        return _BareBatches(self.given, columns) if columns else self.given

    def tables(self) -> Iterable[Any]:
        batches: Iterable[Any] = self.given
        return batches


class DaskCollection(Source):
    """A ``dask.array`` or a ``dask.dataframe``."""

    delayed = True

    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        check_no_blocks_on_dask(observed)
        parts = partitions_of(self.given)
        read: BatchReader = read_batch
        coding = columns = None
        # For the names, and to refuse what is refused in memory.
        if reading.takes_words:
            if as_memory_table(parts.example) is None:
                read_table(parts.example, reading.name)  # which refuses it
            names = names_of(parts.example, reading.name)
            coding, columns, read = code_on_workers(parts, reading, names is not None)
        elif reading.takes_sparse and issparse(parts.example):
            read_sparse(listener(reading.name), parts.example, reset=True)
            names = None
        else:
            names = read_table(parts.example, reading.name).names
        weights = sample_weight if sample_weight is None else np.asarray(sample_weight, dtype=float)
        every = tuple(map(str, names or range(parts.example.shape[1])))
        rows = rows_of_collection(parts, every, weights, read)
        check_sample_weight(reading.name, weights, rows.n_rows)
        stages = Stages(rows.n_rows, reading.verbose)
        return Table(replace(rows, advance=stages.told), stages, names, coding, columns)

    def without(self, columns: tuple[str, ...]) -> Any:
        return self.given.drop(columns=list(columns)) if columns else self.given

    def cells(self, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
        if not hasattr(self.given, "columns"):
            raise _nameless(columns)
        _check_known(columns, list(self.given.columns))
        return InMemory(self.given[list(columns)].compute()).cells(columns)


class InFiles(Source):
    """Files by their path, by :class:`Files`, or several tables by :func:`together`."""

    def __init__(self, given: Any):
        super().__init__(Files(given) if isinstance(given, str | Path) else given)

    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        if not is_sparse_file(self.given.single):
            check_no_blocks(observed)
        files, source = open_for(self.given, reading)
        if isinstance(source, SparseSource) and files is None:
            words = source.names if source.named else None
            blocks = source.observed if observed is None else observed
            table = table_of_sparse(source.matrix, reading, sample_weight, blocks, words)
        else:
            check_no_blocks(observed)
            table = table_of_files(files or self.given, source, reading, sample_weight)
        return replace(table, text=self.given.text)

    def without(self, columns: tuple[str, ...]) -> Any:
        files = self.given
        if not columns:
            return files
        chosen = files.columns
        left = None if chosen is None else [name for name in chosen if str(name) not in columns]
        return replace(files, columns=left, drop=[*files.drop, *columns])

    def cells(self, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
        source = open_files(replace(self.given, columns=None, drop=(), preprocessing=None))
        _check_known(columns, source.all_names)
        return Batches(source.batches(list(columns), ROWS_A_BATCH)).cells(columns)

    @property
    def files(self) -> Files:
        files: Files = self.given
        return files


class InSequences(Source):
    """A table whose rows follow each other."""

    def __init__(self, given: Sequenced):
        super().__init__(given)
        self.table = source_of(given.table)

    def open(
        self, reading: Reading, sample_weight: Any = None, observed: ObservedBlocks | None = None
    ) -> Table:
        if self.given.single is not None and not self.table.in_memory:
            raise ValueError(
                "X_single goes with arrays and data frames in memory. Among the rows of files, "
                "batches and Dask, give each row without neighbours a sequence of its own."
            )
        table = open_table(self.bare(), reading)
        return replace(table, rows=self.arranged(table.rows))

    def bare(self) -> Any:
        """The table without the columns that only say what rows are of."""
        keys, single = self.given.keys, self.given.single
        bare = self.table.without(keys)
        return bare if single is None else _with_single(bare, single, keys)

    def without(self, columns: tuple[str, ...]) -> Any:
        return replace(self.given, table=self.table.without(columns))

    @property
    def keys(self) -> Keys:
        """The labels of sequences and the order of rows, as given or read from their columns."""
        found = self.table.cells(self.given.keys) if self.given.keys else {}
        label, order = (
            found[key] if isinstance(key, str) else None if key is None else _array(key)
            for key in (self.given.sequence, self.given.order)
        )
        return Keys(label, order)

    def arranged(self, rows: Any) -> Rows:
        """Rows that were opened, in the sequences that are said of them."""
        given, files = self.given, self.table.files
        n_rows, n_single = rows.accumulate(len), 0 if given.single is None else len(given.single)
        found = arrange(given, self.keys, n_rows, n_single)
        if found.place is None:
            ordered: Rows = rows.in_sequences(found.sequences)
            return ordered
        if self.table.delayed or (files is not None and files.dask):
            raise DataError(
                "The rows of a sequence do not lie together and in order, and workers do not sort "
                "them. Sort the table by sequence and order, or read it into memory."
            )
        if self.table.out_of_memory:
            memory = MEMORY if files is None else files.memory
            if 8e-6 * n_rows * len(rows.names) > memory:
                raise DataError(
                    "The rows of a sequence do not lie together and in order, and the table is "
                    f"larger than {memory:g} MB. Sort it by sequence and order, or "
                    + remedy("more memory", "give more memory with Files(path, memory=...)")
                    + "."
                )
            rows = MemoryRows(whole_table(rows), rows.names)
        in_order: Rows = replace(rows, table=found.table(rows.table), sequences=found.sequences)
        return in_order

    @property
    def out_of_memory(self) -> bool:
        return self.table.out_of_memory


SOURCES: tuple[tuple[Callable[[Any], bool], Callable[[Any], Source]], ...] = (
    (lambda X: isinstance(X, Sequenced), InSequences),
    (lambda X: isinstance(X, np.ndarray), InMemory),
    (lambda X: isinstance(X, str | Path | Files), InFiles),
    (issparse, SparseMatrix),
    (is_dask, DaskCollection),
    (is_batches, Batches),
    (lambda X: True, InMemory),
)
"""The kinds of input, by what tells them; the first that fits is taken."""


def source_of(X: Any) -> Source:
    """Where a table comes from.

    >>> type(source_of("patients.csv")).__name__, source_of([[1.0, 2.0]]).in_memory
    ('InFiles', True)
    """
    return next(kind(X) for fits, kind in SOURCES if fits(X))


def open_table(
    X: Any,
    reading: Reading = Reading(),  # noqa: B008 - immutable
    sample_weight: Any = None,
    observed: ObservedBlocks | None = None,
    vocabulary: Any = None,
) -> Table:
    """The table in whatever X is, to learn from it.

    Arrays and frames of Dask are summed by Dask, and so are files if they say so. Where words are
    taken they become numbers by the coding of an earlier fit, or as it is found in all rows. A
    ``vocabulary`` names columns that have no names.
    """
    source = source_of(X)
    if vocabulary is None:
        return source.open(reading, sample_weight, observed)
    if source.files is not None:
        named = InFiles(replace(source.files, vocabulary=vocabulary))
        return named.open(reading, sample_weight, observed)
    return _in_words(source.open(reading, sample_weight, observed), vocabulary)


def _in_words(table: Table, vocabulary: Any) -> Table:
    if not isinstance(table.rows, MemoryRows | SparseRows | ClusterRows):
        raise ValueError(
            "vocabulary goes with an array, a sparse matrix or the file of one. Batches of rows "
            "have names if they are data frames."
        )
    if table.names is not None:
        raise ValueError(
            "vocabulary names columns that have no names, and those of X have some. Leave "
            "vocabulary out, or give the values of X alone."
        )
    words = check_vocabulary(vocabulary, len(table.rows.names))
    rows = replace(table.rows, names=words)
    return replace(table, rows=rows, names=words, named_by_words=True)


def _array(values: Any) -> NDArray[Any]:
    return np.asarray(values if not hasattr(values, "to_numpy") else values.to_numpy())


def _nameless(columns: Sequence[str]) -> ValueError:
    return ValueError(
        f"{quoted(columns)} cannot be a column of an array, whose columns "
        "have no names. Give a label for each row instead, or a data frame."
    )


def _check_known(keys: Sequence[str], names: Any) -> None:
    lacking = [key for key in keys if key not in names]
    if lacking:
        raise DataError(
            f"The table has no column {quoted(lacking)}, by which rows follow "
            f"each other. It has {quoted(list(names))}."
        )


def _without(X: Any, columns: tuple[str, ...]) -> Any:
    if not columns:
        return X
    frame = as_frame(X)
    if frame is None:
        raise _nameless(columns)
    _check_known(columns, frame.columns)
    return frame.drop(*columns).to_native()


@dataclass(frozen=True, eq=False)
class _BareBatches:
    """Batches without some of their columns, as often as they are gone through."""

    batches: Any
    keys: tuple[str, ...]

    def __iter__(self) -> Iterator[Any]:
        return (_without(arrow_batch_as_table(batch), self.keys) for batch in self.batches)


def _with_single(X: Any, single: Any, keys: tuple[str, ...]) -> Any:
    if single is None:
        return X
    frame, more = as_frame(X), as_frame(arrow_batch_as_table(single))
    if frame is None or more is None:
        return np.vstack([np.asarray(X), np.asarray(single)])
    more = more.drop(*(key for key in keys if key in more.columns))
    return nw.concat([frame, more.select(frame.columns)]).to_native()
