"""The door: where the rows to learn from are, in memory, in files, in batches, or on a cluster."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.utils import get_tags

from halfseen.data.engines.batched import MEMORY, Source, all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import MemoryRows, Told
from halfseen.data.engines.sparse.rows import SparseRows
from halfseen.data.errors import DataError, IdentifierWarning, warn
from halfseen.data.formatting import quoted
from halfseen.data.messages import leave_out, remedy, setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows, whole_table
from halfseen.io.batches import BatchReader, BatchSource, is_batches, open_batches, sum_over_batches
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.coded_tables import (
    as_memory_table,
    batch_evidence,
    count_unseen,
    infer_coding,
    read_and_code,
    read_coded_batch,
    record_names,
)
from halfseen.io.coding import (
    Coding,
    declared_kinds,
    numeric_coding,
    takes_kinds,
    warn_unseen_categories,
)
from halfseen.io.columns import remember_columns
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
from halfseen.io.text import check_column, check_vocabulary
from halfseen.io.validation import check_sample_weight, feature_names, read_batch, read_table

MAX_BYTES_IN_MEMORY = 64e6
"""Bytes of several tables that are rather read once than once for every pass over them."""


def open_rows(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    observed: ObservedBlocks | None = None,
    coding: Coding | None = None,
    vocabulary: Any = None,
) -> tuple[Rows, Stages]:
    """The rows of an array, a frame, a sparse matrix, files or batches, and their clock.

    Arrays and frames of Dask are summed by Dask, and so are files if they say so. An estimator that
    takes columns of words keeps how they became numbers: by the ``coding`` of an earlier fit, or as
    it is found in all rows. A ``vocabulary`` names columns that have no names.
    """
    if vocabulary is not None:
        return _in_words(estimator, X, sample_weight, observed, vocabulary)
    if isinstance(X, Sequenced):
        return _sequenced(estimator, X, coding)
    if isinstance(X, np.ndarray) and observed is None:
        return _in_memory(estimator, X, sample_weight, coding)
    X, words = Files(X) if isinstance(X, str | Path) else X, None
    if isinstance(X, Files):
        if not is_sparse_file(X.single):
            check_no_blocks(observed)
        X, source = _opened(estimator, X, coding)
        words = source.names if source.named else None
        if isinstance(source, SparseSource) and observed is None:
            observed = source.observed
    if get_tags(estimator).input_tags.sparse and issparse(X):
        return _sparse(estimator, X, sample_weight, observed, words)
    if is_dask(X):
        check_no_blocks_on_dask(observed)
        return _collection(estimator, X, sample_weight, coding)
    check_no_blocks(observed)
    if isinstance(X, Files):
        return _files(estimator, X, source, sample_weight)
    if is_batches(X):
        return _streamed(estimator, _batches(estimator, X, coding), sample_weight)
    return _in_memory(estimator, X, sample_weight, coding)


def _in_words(
    estimator: Any, X: Any, sample_weight: Any, observed: ObservedBlocks | None, vocabulary: Any
) -> tuple[Rows, Stages]:
    """Rows whose columns are called by words that are given beside them."""
    X = Files(X) if isinstance(X, str | Path) else X
    if isinstance(X, Files):
        return open_rows(
            estimator, replace(X, vocabulary=vocabulary), sample_weight, observed, None
        )
    rows, stages = open_rows(estimator, X, sample_weight, observed)
    if not isinstance(rows, MemoryRows | SparseRows | ClusterRows):
        raise ValueError(
            "vocabulary goes with an array, a sparse matrix or the file of one. Batches of rows "
            "have names if they are data frames."
        )
    if hasattr(estimator, "feature_names_in_"):
        raise ValueError(
            "vocabulary names columns that have no names, and those of X have some. Leave "
            "vocabulary out, or give the values of X alone."
        )
    words = check_vocabulary(vocabulary, len(rows.names))
    estimator.feature_names_in_ = np.array(words, dtype=object)
    estimator._words_given = True
    return replace(rows, names=words), stages


def _sequenced(estimator: Any, given: Sequenced, coding: Coding | None) -> tuple[Rows, Stages]:
    """Rows that follow each other, in their order wherever they can be put in it."""
    if given.single is not None and (is_out_of_memory(given.table) or is_dask(given.table)):
        raise ValueError(
            "X_single goes with arrays and data frames in memory. Among the rows of files, batches "
            "and Dask, give each row without neighbours a sequence of its own."
        )
    rows, stages = open_rows(estimator, without_keys(given), None, None, coding)
    return in_sequences(rows, given), stages


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


def _opened(
    estimator: Any, files: Files, coding: Coding | None
) -> tuple[Any, FileSource | SparseSource]:
    """A sparse matrix, for those who take one, or the files; and what there is in them."""
    kinds = partial(declared_kinds, estimator) if takes_kinds(estimator) else None
    files = with_harmonization(files, kinds) if isinstance(files, Studies) else files
    source = open_source(files, kinds, coding)
    if not (isinstance(source, SparseSource) and source.named):  # in which nothing is wrong
        for sentence in source.notes:
            warn(sentence, UnicodeWarning)
    if coding is None:
        warn_unused_columns(source.columns)
        if source.named and isinstance(source, FileSource):
            remember_columns(estimator, source.columns)
    elif isinstance(source, FileSource):
        warn_unseen_categories(coding, source.n_unseen())
    takes_sparse = get_tags(estimator).input_tags.sparse and not _changes(files.preprocessing)
    whole = isinstance(source, SparseSource) and takes_sparse
    if files.text is not None and not whole:
        raise ValueError(
            f"Words of '{files.text.column}' are counted for models that take sparse counts, and "
            f"{type(estimator).__name__} is none. Use one of topics, or leave text out."
        )
    return (source.matrix if isinstance(source, SparseSource) and whole else files), source


def _changes(preprocessing: Preprocessing | None) -> bool:
    return preprocessing is not None and preprocessing.changes


def _in_memory(
    estimator: Any, X: Any, sample_weight: Any, coding: Coding | None
) -> tuple[MemoryRows, Stages]:
    if takes_kinds(estimator):
        table = read_and_code(estimator, X, coding)
    else:
        table = read_table(estimator, X)
        _warn_of_identifiers(estimator, table)
    weights = None
    if sample_weight is not None:
        weights = check_sample_weight(estimator, sample_weight, len(table))
    if weights is not None and not weights.all():
        # Rows are known by their numbers, which must not depend on where blocks are cut.
        table, weights = table[weights > 0], weights[weights > 0]
    stages = Stages(len(table), estimator.verbose)
    threads, names = effective_n_jobs(estimator.n_jobs), feature_names(estimator)
    return MemoryRows(table, names, weights, threads, stages.told), stages


def _warn_of_identifiers(estimator: Any, table: np.ndarray[Any, Any]) -> None:
    """Columns of a frame that were named to tell rows apart are used, as all that X holds is."""
    names = feature_names(estimator) if hasattr(estimator, "feature_names_in_") else ()
    found = [
        name
        for name, values in zip(names, table.T, strict=False)
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
    estimator: Any,
    X: Any,
    sample_weight: Any,
    observed: ObservedBlocks | None,
    words: tuple[str, ...] | None,
) -> tuple[SparseRows, Stages]:
    remember_columns(estimator, ())  # which are counts, one and all
    weights = check_sample_weight(estimator, sample_weight, X.shape[0])
    n_rows = X.shape[0] if weights is None else int(np.count_nonzero(weights))
    stages = Stages(n_rows, estimator.verbose)
    rows = read_sparse(
        estimator,
        X,
        reset=True,
        observed=observed,
        weights=weights,
        words=words,
        n_threads=effective_n_jobs(estimator.n_jobs),
        advance=stages.told,
    )
    return rows, stages


def _batches(estimator: Any, X: Any, coding: Coding | None) -> BatchSource:
    """The rows of batches; words are coded by what a pass over all of them finds."""
    if not takes_kinds(estimator):
        return open_batches(X, read_batch)
    if coding is not None:
        source = open_batches(X, partial(read_coded_batch, coding, None))
        warn_unseen_categories(coding, sum_over_batches(X, partial(count_unseen, coding)).counts)
        estimator.coding_ = coding
        return source
    seen = sum_over_batches(X, batch_evidence)
    _keep_names(estimator, seen.names, seen.named)
    found = infer_coding(estimator, seen)
    estimator.coding_ = found.coding
    return open_batches(X, partial(read_coded_batch, *found))


def _streamed(estimator: Any, source: Source, sample_weight: Any) -> tuple[Rows, Stages]:
    stages = Stages(0, estimator.verbose)
    _check_unweighted(sample_weight)
    _keep_names(estimator, source.names, source.named)
    threads = effective_n_jobs(estimator.n_jobs)
    return all_columns(source, threads, stages.told, MEMORY), stages


def _files(
    estimator: Any, files: Files, source: FileSource | SparseSource, sample_weight: Any
) -> tuple[Rows, Stages]:
    _check_unweighted(sample_weight)
    stages = Stages(source.n_rows or 0, estimator.verbose)
    threads = effective_n_jobs(estimator.n_jobs)
    rows = rows_of(files, source, threads, stages.told)
    estimator.tables_ = None
    if isinstance(files, Studies) and isinstance(source, FileSource):
        estimator.tables_ = harmonise_tables(files, source)
        if (
            not files.dask
            and 8 * sum(source.table_lengths) * len(rows.names) <= MAX_BYTES_IN_MEMORY
        ):
            # Some tables may lie in memory anyway.
            rows = MemoryRows(whole_table(rows), rows.names, None, threads, stages.told)
    _keep_names(estimator, rows.names, source.named or _changes(files.preprocessing))
    if takes_kinds(estimator):
        found = source.coding if isinstance(source, FileSource) else None
        kinds = declared_kinds(estimator, rows.names) if found is None else {}
        estimator.coding_ = replace(found or numeric_coding(rows.names, kinds), names=rows.names)
    return rows, stages


def with_harmonization(studies: Studies, kinds: Kinds | None = None) -> Studies:
    """Several tables, with all that has to be found of them before they are one."""
    if studies.adjust is None or studies.kept is not None:
        return studies
    return replace(studies, kept=harmonise_tables(studies, open_files(studies, kinds)))


def _collection(
    estimator: Any, X: Any, sample_weight: Any, coding: Coding | None
) -> tuple[ClusterRows, Stages]:
    parts = partitions_of(X)
    read: BatchReader = read_batch
    # For the names, and to refuse what is refused in memory.
    if takes_kinds(estimator):
        read = _coded_on_workers(estimator, parts, coding)
    elif get_tags(estimator).input_tags.sparse and issparse(parts.example):
        read_sparse(estimator, parts.example, reset=True)
    else:
        read_table(estimator, parts.example)
    weights = sample_weight if sample_weight is None else np.asarray(sample_weight, dtype=float)
    rows = rows_of_collection(parts, feature_names(estimator), weights, read)
    check_sample_weight(estimator, weights, rows.n_rows)
    stages = Stages(rows.n_rows, estimator.verbose)
    return replace(rows, advance=stages.told), stages


def _coded_on_workers(estimator: Any, parts: Partitions, coding: Coding | None) -> BatchReader:
    """How workers read partitions, by what a pass over all of them finds."""
    if as_memory_table(parts.example) is None:
        read_table(estimator, parts.example)  # which refuses it
    record_names(estimator, parts.example)
    if coding is not None:
        estimator.coding_ = coding
        warn_unseen_categories(
            coding, sum_over_partitions(parts, partial(count_unseen, coding)).counts
        )
        return partial(read_coded_batch, coding, None)
    found = infer_coding(estimator, sum_over_partitions(parts, batch_evidence))
    estimator.coding_ = found.coding
    return partial(read_coded_batch, *found)


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


def _keep_names(estimator: Any, names: tuple[str, ...], named: bool) -> None:
    estimator.n_features_in_ = len(names)
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


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
