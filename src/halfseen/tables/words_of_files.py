"""What is in files as an Arrow table in which words are words."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.tables.cells.gap_words import Gaps
from halfseen.tables.cells.writing import is_text, tidy
from halfseen.tables.coding import Coding
from halfseen.tables.file_source import ROWS_A_BATCH
from halfseen.tables.files import Files
from halfseen.tables.opened_files import open_files


def with_words(files: Files, coding: Coding, table: Array) -> Any:
    """The columns of a fit as an Arrow table: numbers of ``table`` (n, d), and words.

    Words are as the files have them, null where they stand for gaps.
    """
    import pyarrow as pa

    own = names_of_words(coding)
    source = open_files(files, coding=coding)
    batches = map(pa.table, source.batches(own, ROWS_A_BATCH)) if own else ()
    words = pa.concat_tables(batches, promote_options="permissive") if own else None
    cells = {} if words is None else {name: words.column(name) for name in own}
    return numbers_and_words(coding.names, table, cells, source.gaps)


def names_of_words(coding: Coding) -> list[str]:
    """The columns that are not handed over as numbers: of words, or whatever is left out."""
    return [coding.names[place] for place in np.flatnonzero(coding.worded | coding.left_out)]


def numbers_and_words(
    names: Sequence[str], table: Array, words: Mapping[str, Any], gaps: Gaps
) -> Any:
    """An Arrow table of the columns of ``table`` (n, d), some of which are ``words``."""
    import pyarrow as pa

    columns = [
        without_gap_words(words[name], gaps.of(name))
        if name in words
        else np.ascontiguousarray(values)
        for name, values in zip(names, table.T, strict=True)
    ]
    return pa.table(columns, names=list(names))


def without_gap_words(cells: Any, gaps: Gaps) -> Any:
    """An Arrow column that is null where text stands for a gap."""
    return tidy(cells, gaps) if is_text(cells.type) else cells
