"""The rows of a column of text in files, as counts of its words."""

from halfseen.tables.file_source import ROWS_A_BATCH
from halfseen.tables.files import Files
from halfseen.tables.opened_files import as_they_are
from halfseen.tables.sparse_file import SparseSource
from halfseen.tables.text import check_column


def open_text(given: Files) -> SparseSource:
    """The words of a column of text in files: those of ``columns``, or all that are common."""
    text, source = given.text, as_they_are(given)
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
