"""How files and sparse matrices are opened: columns, what became of them, and their rows."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from halfseen.data.engines.batched import RowReader, all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import MemoryRows, Told
from halfseen.data.errors import IdentifierWarning, warn
from halfseen.data.formatting import quoted
from halfseen.data.messages import leave_out, setting
from halfseen.data.progress import Stages
from halfseen.data.rows import Rows, whole_table
from halfseen.io.batches import BatchReader
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.coded_tables import (
    LearnedTable,
    batch_evidence,
    count_unseen,
    infer_coding,
    read_coded_batch,
)
from halfseen.io.coding import Coding, declared_kinds, numeric_coding, warn_unseen_categories
from halfseen.io.columns import Column
from halfseen.io.dask_collections import Partitions, rows_of_files, sum_over_partitions
from halfseen.io.file_source import ROWS_A_BATCH, FileSource
from halfseen.io.files import CELL_OPTIONS, Files
from halfseen.io.kind_inference import identifier_reason, named_as_identifier, warn_unused_columns
from halfseen.io.open_files import Kinds, open_files, open_raw
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sparse_matrix import (
    ObservedBlocks,
    SparseSource,
    is_sparse_file,
    open_sparse_file,
    read_sparse,
)
from halfseen.io.studies import harmonise_tables
from halfseen.io.table import Reading, Table
from halfseen.io.text import check_column
from halfseen.io.validation import check_sample_weight, listener


def open_source(
    files: Files, kinds: Kinds | None = None, coding: Coding | None = None
) -> FileSource | SparseSource:
    """The columns of files, what was done to them, and their rows as floats.

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
    """Refuse options for cells where only counts are read."""
    said = [name for name in CELL_OPTIONS if getattr(files, name)]
    if said:
        raise ValueError(
            setting(**{said[0]: getattr(files, said[0])})
            + f" says nothing of {files.name}, of which only counts are read. Leave it out."
        )


def rows_of(files: Files, source: RowReader, n_threads: int = 1, advance: Told = None) -> Rows:
    """The rows of files, as their preprocessing has them; on workers, if the files say so."""
    rows: Rows
    if files.dask and isinstance(source, FileSource):
        rows = replace(_on_workers(files, source), advance=advance)
    else:
        rows = all_columns(source, n_threads, advance, files.memory)
    return rows if files.preprocessing is None else files.preprocessing.rows(rows)


def changes_columns(preprocessing: Preprocessing | None) -> bool:
    """Whether preprocessing changes columns."""
    return preprocessing is not None and preprocessing.changes


def with_harmonization(files: Files, kinds: Kinds | None = None) -> Files:
    """The files, with adjustments of several tables computed."""
    studies = files.studies
    if studies is None or studies.adjust is None or studies.kept is not None:
        return files
    return replace(studies, kept=harmonise_tables(studies, open_files(studies, kinds)))


def _on_workers(files: Files, source: FileSource) -> ClusterRows:
    try:
        return rows_of_files(source, files.memory)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Files(…, dask=True) needs Dask. Install it with: pip install 'halfseen[dask]'"
        ) from missing


def open_text(given: Files) -> SparseSource:
    """Word counts of a column of text: of given ``columns``, or of common words."""
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


MAX_BYTES_IN_MEMORY = 64e6
"""Bytes of several tables that are rather read once than once for every pass over them."""


def open_for(files: Files, reading: Reading) -> tuple[Files | None, FileSource | SparseSource]:
    """The opened files; None instead of files for a sparse matrix."""
    kinds = partial(declared_kinds, reading.kinds) if reading.takes_words else None
    files = with_harmonization(files, kinds)
    source = open_source(files, kinds, reading.coding)
    if not (isinstance(source, SparseSource) and source.named):  # in which nothing is wrong
        for sentence in source.notes:
            warn(sentence, UnicodeWarning)
    if reading.coding is None:
        warn_unused_columns(source.columns)
    elif isinstance(source, FileSource):
        warn_unseen_categories(reading.coding, source.n_unseen())
    takes_sparse = reading.takes_sparse and not changes_columns(files.preprocessing)
    whole = isinstance(source, SparseSource) and takes_sparse
    if files.text is not None and not whole:
        raise ValueError(
            f"Words of '{files.text.column}' are counted for models that take sparse counts, and "
            f"{reading.name} is none. Use one of topics, or leave text out."
        )
    return (None if whole else files), source


def table_of_files(
    files: Files, source: FileSource | SparseSource, reading: Reading, sample_weight: Any
) -> Table:
    """The table of opened files."""
    check_unweighted(sample_weight)
    stages, threads = Stages(source.n_rows or 0, reading.verbose), effective_n_jobs(reading.n_jobs)
    rows, tables = rows_of(files, source, threads, stages.told), None
    if files.studies is not None and isinstance(source, FileSource):
        tables = harmonise_tables(files.studies, source)
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
    names = rows.names if source.named or changes_columns(files.preprocessing) else None
    return Table(rows, stages, names, coding, columns, tables)


def table_of_sparse(
    X: Any,
    reading: Reading,
    sample_weight: Any,
    observed: ObservedBlocks | None,
    words: tuple[str, ...] | None,
) -> Table:
    """The table of a sparse matrix of counts."""
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


def code_on_workers(
    parts: Partitions, reading: Reading, named: bool
) -> tuple[Coding, tuple[Column, ...] | None, BatchReader]:
    """A function by which workers read partitions, with a coding inferred from all of them."""
    coding = reading.coding
    if coding is not None:
        unseen = sum_over_partitions(parts, partial(count_unseen, coding))
        warn_unseen_categories(coding, unseen.counts)
        return coding, None, partial(read_coded_batch, coding, None)
    seen = sum_over_partitions(parts, batch_evidence)
    found = infer_coding(reading.kinds, seen, named)
    return found.coding, found.columns, partial(read_coded_batch, found.coding, found.writings)


def check_unweighted(sample_weight: Any) -> None:
    """Refuse weights for rows that are not in memory."""
    if sample_weight is not None:
        raise ValueError(
            "Rows in files and batches have no sample_weight. Read them into memory to weigh them."
        )


def warn_of_identifiers(table: LearnedTable) -> None:
    """Warn of columns that look like identifiers."""
    found = [
        name
        for name, values in zip(map(str, table.names or ()), table.values.T, strict=False)
        if named_as_identifier(name)
        and identifier_reason(name, CellSums.of_numbers(np.asarray(values, dtype=float)))
    ]
    if found:
        warn(
            f"{quoted(found)} {'looks' if len(found) == 1 else 'look'} like "
            "what tells rows apart and measures nothing, by name and values. "
            + leave_out(found, capital=True)
            + ".",
            IdentifierWarning,
        )
