"""The door: where the rows to learn from are, in memory, in files, in batches, or on a cluster."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse

from halfseen.data.engines.batched import MEMORY, Source, all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import MemoryRows, Told
from halfseen.data.engines.sparse_rows import SparseRows
from halfseen.data.errors import DataError, IdentifierWarning, warn
from halfseen.data.formatting import quoted
from halfseen.data.messages import leave_out, remedy, setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows, whole_table
from halfseen.io.batches import BatchReader, is_batches, open_batches, sum_over_batches
from halfseen.io.cells.cell_sums import CellSums
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
from halfseen.io.coding import Coding, declared_kinds, numeric_coding, warn_unseen_categories
from halfseen.io.columns import Column
from halfseen.io.dask_collections import (
    Partitions,
    is_dask,
    partitions_of,
    rows_of_collection,
    rows_of_files,
    sum_over_partitions,
)
from halfseen.io.file_source import ROWS_A_BATCH, FileSource
from halfseen.io.files import OF_CELLS, Files
from halfseen.io.harmonization import harmonise_tables
from halfseen.io.kind_inference import identifier_reason, named_as_identifier, warn_unused_columns
from halfseen.io.open_files import Kinds, open_files, open_raw
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sequences import Sequenced, arrange, keys_of, without_keys
from halfseen.io.sparse_file import SparseSource, is_sparse_file, open_sparse_file
from halfseen.io.sparse_matrix import (
    ObservedBlocks,
    check_no_blocks,
    check_no_blocks_on_dask,
    read_sparse,
)
from halfseen.io.studies import Studies
from halfseen.io.table import Reading, Table
from halfseen.io.text import check_column, check_vocabulary
from halfseen.io.validation import check_sample_weight, listener, read_batch, read_table

MAX_BYTES_IN_MEMORY = 64e6
"""Bytes of several tables that are rather read once than once for every pass over them."""


def open_table(
    X: Any,
    reading: Reading = Reading(),  # noqa: B008 - immutable
    sample_weight: Any = None,
    observed: ObservedBlocks | None = None,
    vocabulary: Any = None,
) -> Table:
    """The table in an array, a frame, a sparse matrix, files or batches, or on a cluster.

    Arrays and frames of Dask are summed by Dask, and so are files if they say so. Where words are
    taken they become numbers by the coding of an earlier fit, or as it is found in all rows. A
    ``vocabulary`` names columns that have no names.
    """
    if vocabulary is not None:
        return _in_words(X, reading, sample_weight, observed, vocabulary)
    if isinstance(X, Sequenced):
        return _sequenced(X, reading)
    if isinstance(X, np.ndarray) and observed is None:
        return _in_memory(X, reading, sample_weight)
    X, words = Files(X) if isinstance(X, str | Path) else X, None
    if isinstance(X, Files):
        if not is_sparse_file(X.single):
            check_no_blocks(observed)
        X, source = _opened(X, reading)
        words = source.names if source.named else None
        if isinstance(source, SparseSource) and observed is None:
            observed = source.observed
    if reading.takes_sparse and issparse(X):
        return _sparse(X, reading, sample_weight, observed, words)
    if is_dask(X):
        check_no_blocks_on_dask(observed)
        return _collection(X, reading, sample_weight)
    check_no_blocks(observed)
    if isinstance(X, Files):
        return _files(X, source, reading, sample_weight)
    if is_batches(X):
        return _batches(X, reading, sample_weight)
    return _in_memory(X, reading, sample_weight)


def _in_words(
    X: Any, reading: Reading, sample_weight: Any, observed: ObservedBlocks | None, vocabulary: Any
) -> Table:
    """A table whose columns are called by words that are given beside it."""
    X = Files(X) if isinstance(X, str | Path) else X
    if isinstance(X, Files):
        return open_table(replace(X, vocabulary=vocabulary), reading, sample_weight, observed)
    table = open_table(X, reading, sample_weight, observed)
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


def _sequenced(given: Sequenced, reading: Reading) -> Table:
    """Rows that follow each other, in their order wherever they can be put in it."""
    if given.single is not None and (is_out_of_memory(given.table) or is_dask(given.table)):
        raise ValueError(
            "X_single goes with arrays and data frames in memory. Among the rows of files, batches "
            "and Dask, give each row without neighbours a sequence of its own."
        )
    table = open_table(without_keys(given), reading)
    return replace(table, rows=in_sequences(table.rows, given))


def in_sequences(rows: Any, given: Sequenced) -> Rows:
    """Rows that were opened, in the sequences that are said of them."""
    keys, n_rows = keys_of(given), rows.accumulate(len)
    n_single = 0 if given.single is None else len(given.single)
    found = arrange(given, keys, n_rows, n_single)
    if found.place is None:
        ordered: Rows = rows.in_sequences(found.sequences)
        return ordered
    files = Files(given.table) if isinstance(given.table, str | Path) else given.table
    memory = files.memory if isinstance(files, Files) else MEMORY
    if is_dask(given.table) or (isinstance(files, Files) and files.dask):
        raise DataError(
            "The rows of a sequence do not lie together and in order, and workers do not sort "
            "them. Sort the table by sequence and order, or read it into memory."
        )
    if is_out_of_memory(given.table):
        if 8e-6 * n_rows * len(rows.names) > memory:
            raise DataError(
                "The rows of a sequence do not lie together and in order, and the table is larger "
                f"than {memory:g} MB. Sort it by sequence and order, or "
                + remedy("more memory", "give more memory with Files(path, memory=...)")
                + "."
            )
        rows = MemoryRows(whole_table(rows), rows.names)
    sorted_rows: Rows = replace(rows, table=found.table(rows.table), sequences=found.sequences)
    return sorted_rows


def open_source(
    files: Files, kinds: Kinds | None = None, coding: Coding | None = None
) -> FileSource | SparseSource:
    """What there is in files: columns, what became of them, and their rows as floats.

    With ``kinds``, or a ``coding``, words are read as codes.
    """
    if files.text is not None or is_sparse_file(files.single):
        _check_counts(files)
    if files.text is not None:
        return open_text(files)
    if is_sparse_file(files.single):
        return open_sparse_file(files)
    if files.vocabulary:
        raise ValueError(
            f"vocabulary names the columns of a sparse matrix, and {files.name} is "
            "none: its columns have names or numbers of their own. Leave vocabulary out."
        )
    return open_files(files, kinds, coding)


def _check_counts(files: Files) -> None:
    """Refuse what is said of cells where there are counts only."""
    said = [name for name in OF_CELLS if getattr(files, name)]
    if said:
        raise ValueError(
            setting(**{said[0]: getattr(files, said[0])})
            + f" says nothing of {files.name}, of which only counts are read. Leave it out."
        )


def rows_of(files: Files, source: Source, n_threads: int = 1, advance: Told = None) -> Rows:
    """The rows of files, as their preprocessing has them; on workers, if the files say so."""
    rows: Rows
    if files.dask and isinstance(source, FileSource):
        rows = replace(_on_workers(files, source), advance=advance)
    else:
        rows = all_columns(source, n_threads, advance, files.memory)
    return rows if files.preprocessing is None else files.preprocessing.rows(rows)


def _opened(files: Files, reading: Reading) -> tuple[Any, FileSource | SparseSource]:
    """A sparse matrix, for those who take one, or the files; and what there is in them."""
    kinds = partial(declared_kinds, reading.kinds) if reading.takes_words else None
    files = with_harmonization(files, kinds) if isinstance(files, Studies) else files
    source = open_source(files, kinds, reading.coding)
    if not (isinstance(source, SparseSource) and source.named):  # in which nothing is wrong
        for sentence in source.notes:
            warn(sentence, UnicodeWarning)
    if reading.coding is None:
        warn_unused_columns(source.columns)
    elif isinstance(source, FileSource):
        warn_unseen_categories(reading.coding, source.n_unseen())
    takes_sparse = reading.takes_sparse and not _changes(files.preprocessing)
    whole = isinstance(source, SparseSource) and takes_sparse
    if files.text is not None and not whole:
        raise ValueError(
            f"Words of '{files.text.column}' are counted for models that take sparse counts, and "
            f"{reading.name} is none. Use one of topics, or leave text out."
        )
    return (source.matrix if isinstance(source, SparseSource) and whole else files), source


def _changes(preprocessing: Preprocessing | None) -> bool:
    return preprocessing is not None and preprocessing.changes


def _in_memory(X: Any, reading: Reading, sample_weight: Any) -> Table:
    if reading.takes_words:
        learned = read_and_code(X, reading)
    else:
        learned = LearnedTable(*read_table(X, reading.name))
        _warn_of_identifiers(learned)
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


def _warn_of_identifiers(table: LearnedTable) -> None:
    """Columns of a frame that were named to tell rows apart are used, as all that X holds is."""
    found = [
        name
        for name, values in zip(map(str, table.names or ()), table.values.T, strict=False)
        if named_as_identifier(name)
        and identifier_reason(name, CellSums.of_numbers(np.asarray(values, dtype=float)))
    ]
    if found:
        warn(
            f"{quoted(found, range(len(found)))} {'looks' if len(found) == 1 else 'look'} like "
            "what tells rows apart and measures nothing, by name and values. "
            + leave_out(found, capital=True)
            + ".",
            IdentifierWarning,
        )


def is_out_of_memory(X: Any) -> bool:
    """Whether rows are in files or come in batches, rather than lying in memory."""
    if isinstance(X, Sequenced):
        return is_out_of_memory(X.table)
    return isinstance(X, str | Path | Files) or is_batches(X)


def _sparse(
    X: Any,
    reading: Reading,
    sample_weight: Any,
    observed: ObservedBlocks | None,
    words: tuple[str, ...] | None,
) -> Table:
    weights = check_sample_weight(reading.name, sample_weight, X.shape[0])
    n_rows = X.shape[0] if weights is None else int(np.count_nonzero(weights))
    stages = Stages(n_rows, reading.verbose)
    rows = read_sparse(
        listener(reading.name),
        X,
        reset=True,
        observed=observed,
        weights=weights,
        words=words,
        n_threads=effective_n_jobs(reading.n_jobs),
        advance=stages.told,
    )
    return Table(rows, stages, words, columns=())  # which are counts, one and all


def _batches(X: Any, reading: Reading, sample_weight: Any) -> Table:
    """The rows of batches; words are coded by what a pass over all of them finds."""
    coding, columns, read = reading.coding, None, read_batch
    if reading.takes_words and coding is None:
        seen = sum_over_batches(X, batch_evidence)
        coding, writings, columns = infer_coding(reading.kinds, seen, seen.named)
        read = partial(read_coded_batch, coding, writings)
    elif reading.takes_words and coding is not None:
        unseen = sum_over_batches(X, partial(count_unseen, coding))
        warn_unseen_categories(coding, unseen.counts)
        read = partial(read_coded_batch, coding, None)
    source, stages = open_batches(X, read), Stages(0, reading.verbose)
    _check_unweighted(sample_weight)
    rows = all_columns(source, effective_n_jobs(reading.n_jobs), stages.told, MEMORY)
    names = source.names if source.named else None
    return Table(rows, stages, names, coding if reading.takes_words else None, columns)


def _files(
    files: Files, source: FileSource | SparseSource, reading: Reading, sample_weight: Any
) -> Table:
    _check_unweighted(sample_weight)
    stages, threads = Stages(source.n_rows or 0, reading.verbose), effective_n_jobs(reading.n_jobs)
    rows, tables = rows_of(files, source, threads, stages.told), None
    if isinstance(files, Studies) and isinstance(source, FileSource):
        tables = harmonise_tables(files, source)
        if (
            not files.dask
            and 8 * sum(source.table_lengths) * len(rows.names) <= MAX_BYTES_IN_MEMORY
        ):
            # Some tables may lie in memory anyway.
            rows = MemoryRows(whole_table(rows), rows.names, None, threads, stages.told)
    coding = columns = None
    if reading.takes_words:
        found = source.coding if isinstance(source, FileSource) else None
        kinds = declared_kinds(reading.kinds, rows.names) if found is None else {}
        coding = replace(found or numeric_coding(rows.names, kinds), names=rows.names)
    if reading.coding is None and source.named and isinstance(source, FileSource):
        columns = source.columns
    names = rows.names if source.named or _changes(files.preprocessing) else None
    return Table(rows, stages, names, coding, columns, tables)


def with_harmonization(studies: Studies, kinds: Kinds | None = None) -> Studies:
    """Several tables, with all that has to be found of them before they are one."""
    if studies.adjust is None or studies.kept is not None:
        return studies
    return replace(studies, kept=harmonise_tables(studies, open_files(studies, kinds)))


def _collection(X: Any, reading: Reading, sample_weight: Any) -> Table:
    parts = partitions_of(X)
    read: BatchReader = read_batch
    coding = columns = None
    # For the names, and to refuse what is refused in memory.
    if reading.takes_words:
        if as_memory_table(parts.example) is None:
            read_table(parts.example, reading.name)  # which refuses it
        names = names_of(parts.example, reading.name)
        coding, columns, read = _coded_on_workers(parts, reading, names is not None)
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


def _coded_on_workers(
    parts: Partitions, reading: Reading, named: bool
) -> tuple[Coding, tuple[Column, ...] | None, BatchReader]:
    """How workers read partitions, by what a pass over all of them finds."""
    coding = reading.coding
    if coding is not None:
        unseen = sum_over_partitions(parts, partial(count_unseen, coding))
        warn_unseen_categories(coding, unseen.counts)
        return coding, None, partial(read_coded_batch, coding, None)
    seen = sum_over_partitions(parts, batch_evidence)
    found = infer_coding(reading.kinds, seen, named)
    return found.coding, found.columns, partial(read_coded_batch, found.coding, found.writings)


def _on_workers(files: Files, source: FileSource) -> ClusterRows:
    try:
        return rows_of_files(source, files.memory)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Files(…, dask=True) needs Dask. Install it with: pip install 'halfseen[dask]'"
        ) from missing


def _check_unweighted(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise ValueError(
            "Rows in files and batches have no sample_weight. Read them into memory to weigh them."
        )


def open_text(given: Files) -> SparseSource:
    """The words of a column of text in files: those of ``columns``, or all that are common."""
    text, source = given.text, open_raw(given)
    if text is None:
        raise AssertionError("only for files whose text is counted")
    check_column(given.name, text.column, source.all_names)
    gaps, texts = set(source.gaps.words), list[str | None]()
    for batch in source.batches([text.column], ROWS_A_BATCH):
        cells = (None if cell is None else str(cell) for cell in batch.column(0).to_pylist())
        texts += [None if cell is None or cell.strip() in gaps else cell for cell in cells]
    words = None if given.columns is None else tuple(map(str, given.columns))
    found = text.counted(texts, words)
    notes = (*source.notes, text.told(found)) if words is None else tuple(source.notes)
    known = None if found.known.all() else found.known
    return SparseSource(found.counts, found.words, True, notes, known, source)
