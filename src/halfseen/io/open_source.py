"""Files as they were opened: their columns, what became of them, and their rows."""

from dataclasses import replace

from halfseen.data.engines.batched import RowReader, all_columns
from halfseen.data.engines.dask_rows import ClusterRows
from halfseen.data.engines.memory import Told
from halfseen.data.messages import setting
from halfseen.data.rows import Rows
from halfseen.io.coding import Coding
from halfseen.io.dask_collections import rows_of_files
from halfseen.io.file_source import ROWS_A_BATCH, FileSource
from halfseen.io.files import CELL_OPTIONS, Files
from halfseen.io.open_files import Kinds, open_files, open_raw
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.sparse_matrix import SparseSource, is_sparse_file, open_sparse_file
from halfseen.io.studies import harmonise_tables
from halfseen.io.text import check_column


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
    """Whether columns are not learned from as they are."""
    return preprocessing is not None and preprocessing.changes


def with_harmonization(files: Files, kinds: Kinds | None = None) -> Files:
    """The files; of several tables, with all that has to be found of them before they are one."""
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
