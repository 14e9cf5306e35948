"""The tables of several studies: files of each, with columns called and measured alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError, TablesWarning, warn
from halfseen.data.formatting import quoted
from halfseen.data.messages import parameter
from halfseen.io.batches import is_batches
from halfseen.io.cells.cell_sums import CellSums
from halfseen.io.cells.number_formats import NumberFormat
from halfseen.io.file_source import ROWS_A_BATCH, Affine, FilePart, FileSource, TableFile, TableSpan
from halfseen.io.files import Files, FileTable, all_column_names, open_file_table
from halfseen.io.formats.arrow_files import MemoryTables, as_arrow
from halfseen.io.formats.format import Header
from halfseen.io.kind_inference import ColumnEvidence
from halfseen.io.sparse_matrix import is_sparse_file
from halfseen.io.studies import Studies, is_dask


def open_studies(studies: Studies) -> tuple[FileTable, ...]:
    """Open the tables of several studies, with common names of columns."""
    every = zip(studies.tables, studies.called, strict=True)
    tables = tuple(_renamed(_opened(given, name), name, studies) for given, name in every)
    known = all_column_names(tables)
    lacking = [old for old in studies.rename.get("", {}) if not _renames(tables, old, studies)]
    if lacking:
        raise DataError(
            parameter("rename") + f" names {quoted(lacking)}, which no table has. They have "
            f"{quoted(known, most=12)}."
        )
    return tables


def _renames(tables: tuple[FileTable, ...], old: str, studies: Studies) -> bool:
    new = studies.rename[""][old]
    return any(new in table.names for table in tables)


def _opened(given: Any, name: str) -> FileTable:
    """Open one of the tables."""
    if isinstance(given, str | Path | Files):
        files = given if isinstance(given, Files) else Files(given)
        _check_member(files, name)
        table = open_file_table(files)
        if not table.named:
            raise DataError(
                f"{name} has no names of columns, and tables are put together by name. Give data "
                "frames, or files in which columns have names."
            )
        kept = table if files.columns is None and not files.drop else _chosen(table, files)
        return kept._replace(gap_codes=files.gap_codes, only=False)
    held = _in_memory(given)
    path = Path(name)
    return FileTable((TableFile(path, None, held.header(path), held),), only=False)


def _check_member(files: Files, name: str) -> None:
    if files.studies is not None:
        raise ValueError(
            "together() takes tables, and no other together(). Name all tables in one."
        )
    if is_sparse_file(files.single) or files.text is not None:
        raise DataError(
            f"{name} holds a sparse matrix or counts of words, which are not put together with "
            "other tables. Stack sparse counts yourself, and say by ObservedBlocks which rows have "
            "which columns."
        )
    if files.preprocessing is not None:
        raise ValueError(f"The preprocessing of {name} is that of all tables. Leave it out.")


def _chosen(table: FileTable, files: Files) -> FileTable:
    wanted = table.names if files.columns is None else tuple(map(str, files.columns))
    lacking = [name for name in (*wanted, *map(str, files.drop)) if name not in table.names]
    if lacking:
        raise DataError(
            f"{table.files[0].path.name} has no column {quoted(lacking)}. It "
            f"has {quoted(table.names, most=12)}."
        )
    keep = set(wanted) - set(map(str, files.drop))
    return _with_headers(
        table,
        lambda header: header._replace(
            fields=tuple(field for field in header.fields if field.name in keep)
        ),
    )


def _with_headers(table: FileTable, change: Any) -> FileTable:
    files = tuple(file._replace(header=change(file.header)) for file in table.files)
    return table._replace(files=files)


def _in_memory(given: Any) -> MemoryTables:
    if is_dask(given):
        if not hasattr(given, "to_delayed") or not hasattr(given, "columns"):
            raise DataError(
                f"A {type(given).__name__} of Dask has no names of columns, and tables are put "
                "together by name. Give a dask.dataframe."
            )
        parts = tuple(given.to_delayed())
        return MemoryTables(partial(_computed, parts), parts)
    if is_batches(given):
        return MemoryTables(partial(_each, given))
    return MemoryTables.of(given)


def _each(batches: Any) -> Iterator[Any]:
    return map(as_arrow, batches)


def _computed(parts: tuple[Any, ...]) -> Iterator[Any]:
    return (as_arrow(part.compute()) for part in parts)


def _renamed(table: FileTable, name: str, studies: Studies) -> FileTable:
    """The table with its columns renamed, and in common units."""
    own = studies.rename.get(name, {})
    lacking = [old for old in own if old not in table.names]
    if lacking:
        raise DataError(
            parameter("rename") + f" names {quoted(lacking)}, which {name} does not have. It "
            f"has {quoted(table.names, most=12)}."
        )
    new = {**studies.rename.get("", {}), **own}
    if new:
        table = _with_headers(table, partial(_rename_columns, new, name))
    units = studies.units.get(name, {})
    lacking = [column for column in units if column not in table.names]
    if lacking:
        raise DataError(
            parameter("units") + f" names {quoted(lacking)}, which {name} does not have. It "
            f"has {quoted(table.names, most=12)}."
        )
    return table._replace(
        files=tuple(_measured(file, units, name, studies) for file in table.files)
    )


def _rename_columns(new: dict[str, str], table: str, header: Header) -> Header:
    fields = tuple(field._replace(name=new.get(field.name, field.name)) for field in header.fields)
    names = [field.name for field in fields]
    twice = [name for name in names if names.count(name) > 1 and name in new.values()]
    if twice:
        raise DataError(
            f"Renamed, {table} would have two columns '{twice[0]}'. Leave one of them out with "
            "Files(path, drop=...), or choose another name."
        )
    return header._replace(fields=fields)


def _measured(
    file: TableFile, units: Mapping[str, Affine], name: str, studies: Studies
) -> TableFile:
    """A file in common units, adjusted as in the fit."""
    kept, moved = studies.kept, dict(units)
    if kept is not None and name in kept.names:
        own = kept.names.index(name)
        for place, column in enumerate(kept.columns):
            before = moved.get(column, Affine())
            by, more = float(kept.factor[own, place]), float(kept.shift[own, place])
            if (by, more) != (1.0, 0.0):
                moved[column] = Affine(before.factor * by, before.shift * by + more)
    return file._replace(moved=moved) if moved else file


def table_spans(studies: Studies, files: Sequence[Sequence[TableFile]]) -> tuple[TableSpan, ...]:
    """The files of each study; refused if no column connects the studies."""
    if studies.kept is None and studies.on is None:
        _check_tied(studies, [set(some[0].written) for some in files])
    ends = np.cumsum([len(some) for some in files]).tolist()
    each = zip(studies.called, [0, *ends], ends, strict=False)
    return tuple(TableSpan(*one) for one in each)


def _check_tied(studies: Studies, columns: list[set[str]]) -> None:
    shared = [[bool(one & other) for other in columns] for one in columns]
    n_parts, part = connected_components(np.array(shared), directed=False)
    if n_parts == 1:
        return
    apart = [name for name, own in zip(studies.called, part, strict=True) if own != part[0]]
    others = [name for name, own in zip(studies.called, part, strict=True) if own == part[0]]
    raise DataError(
        f"{' and '.join(others[:3])} and {' and '.join(apart[:3])} have no column in common that "
        "can be used, so that nothing ties them to each other. Rename columns that are the same ("
        + parameter("rename", "rename=")
        + "), or join rows of the same people ("
        + parameter("on", "on=")
        + ")."
    )


def combine_evidence(tables: list[ColumnEvidence]) -> ColumnEvidence:
    """Evidence of a column from several tables, each with its own number format."""
    if not tables:
        return ColumnEvidence(CellSums())
    writings = {one.cells.writing for one in tables if one.cells.known}
    if len(writings) > 1 and not writings & {None, NumberFormat.ANSWERS, NumberFormat.TRUTHS}:
        tables = [replace(one, cells=_as_plain(one.cells)) for one in tables]
    total = tables[0].cells
    for one in tables[1:]:
        total = total + one.cells
    other = next((one.other for one in tables if one.other is not None), None)
    rows = [one.numbers_rows for one in tables if one.cells.n_rows]
    return ColumnEvidence(total, other, bool(rows) and (all(rows) or total.run.numbers_rows))


def _as_plain(cells: CellSums) -> CellSums:
    n = cells.n_values
    return replace(cells, plain=n, thousands=n, decimal_commas=n, european=n)


RELATIVE_TOLERANCE = 1e-9
"""Of a value: cells that differ by less are the same, written with other digits."""


@dataclass(frozen=True, eq=False)
class JoinedSource(FileSource):
    """The rows of several tables, joined by a key."""

    place: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    """Which row of the joined table each row of the tables, one after another, is part of."""
    members: tuple[tuple[str, int, tuple[bool, ...]], ...] = ()
    """What rows of the same tables are called, how many there are, and which tables they are in."""

    @property
    def n_rows(self) -> int:
        return sum(n for _, n, _ in self.members)

    @cached_property
    def table_lengths(self) -> tuple[int, ...]:
        return tuple(n for _, n, _ in self.members)

    @property
    def table_names(self) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self.members)

    @property
    def table_holds(self) -> Mask:
        own = super().table_holds
        return np.array([own[np.array(tables)].any(axis=0) for _, _, tables in self.members])

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        table = self._table(chosen)
        for start in range(0, len(table), n_rows):
            part = table[start : start + n_rows]
            yield Piece(len(part), partial(np.asarray, part))

    def _table(self, chosen: tuple[int, ...]) -> Array:
        table, start = np.full((self.n_rows, len(chosen)), np.nan), 0
        for piece in super().pieces(chosen, ROWS_A_BATCH):
            rows, values = self.place[start : start + piece.n_rows], piece.table()
            table[rows] = np.where(np.isnan(table[rows]), values, table[rows])
            start += piece.n_rows
        return table

    def batches(self, names: Sequence[str], n_rows: int) -> Iterator[Any]:
        cells: dict[str, list[Any]] = {name: [None] * self.n_rows for name in names}
        start = 0
        for batch in super().batches(names, ROWS_A_BATCH):
            rows = self.place[start : start + batch.num_rows].tolist()
            for name, own in cells.items():
                for row, value in zip(rows, batch.column(name).to_pylist(), strict=True):
                    own[row] = value if own[row] is None else own[row]
            start += batch.num_rows
        yield from pa.table(cells).to_batches(n_rows)

    def parts(self) -> list[FilePart]:
        raise DataError(
            "Rows are joined in memory, not by workers. Leave out on=, --cluster and --workers, or "
            "join the tables first."
        )


def join_by_key(studies: Studies, source: FileSource) -> JoinedSource:
    """Join the tables of a source by a key."""
    key = str(studies.on)
    _check(studies, source, key)
    labels = [_labels(source, span, key) for span in source.tables]
    numbers = _as_numbers(labels)
    place, members = _merged_order(numbers, tuple(span.name for span in source.tables))
    own = {one.name: getattr(source, one.name) for one in fields(FileSource)}
    found = JoinedSource(**own, place=place, members=members)
    if studies.kept is None:
        _warn_of_conflicts(found, source)
    return found


def _check(studies: Studies, source: FileSource, key: str) -> None:
    if studies.adjust is not None:
        raise ValueError(
            "adjust compares rows of different people, and on joins those of the same. Leave out "
            "one of them."
        )
    lacking = [
        span.name for span in source.tables if key not in source.files[span.first].header.names
    ]
    if lacking:
        raise DataError(
            f"{quoted(lacking)} has no column '{key}', by which rows are to "
            "be joined. Rename the column that says who a row is of."
        )
    n_rows = sum(source.table_lengths)
    if 8e-6 * n_rows * len(source.names) > studies.memory:
        raise DataError(
            f"Rows are joined in memory, and the tables have {n_rows:,} rows, more than "
            f"{studies.memory:g} MB. Join them with a database first."
        )


def _labels(source: FileSource, span: TableSpan, key: str) -> list[str | None]:
    files = source.files[span.first : span.last]
    found = [
        value
        for file in files
        for batch in file.batches([key], ROWS_A_BATCH)
        for value in batch.column(0).to_pylist()
    ]
    words = [_word(value) for value in found]
    known = [word for word in words if word is not None]
    n_twice = len(known) - len(set(known))
    if n_twice:
        raise DataError(
            f"'{key}' has the same value in several rows of {span.name} ({n_twice:,} rows too "
            "many): a key names one row of each table. Use another column, or make one row of "
            "those of the same key first."
        )
    return words


def _word(value: Any) -> str | None:
    """A key as text.

    >>> _word(7.0), _word(" 7 "), _word("A-7"), _word(None)
    ('7', '7', 'A-7', None)
    """
    if value is None or value != value:
        return None
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return str(value).strip() or None


def _as_numbers(tables: list[list[str | None]]) -> list[NDArray[np.intp]]:
    """A number for each key; rows without a key get numbers of their own."""
    known: dict[str, int] = {}
    nobody = iter(range(-1, -1 - sum(map(len, tables)), -1))

    def number(word: str | None) -> int:
        return next(nobody) if word is None else known.setdefault(word, len(known))

    return [np.array(list(map(number, words)), dtype=np.intp) for words in tables]


def _merged_order(
    tables: list[NDArray[np.intp]], names: tuple[str, ...]
) -> tuple[NDArray[np.intp], tuple[tuple[str, int, tuple[bool, ...]], ...]]:
    """The new position of each row, with rows of the same tables together."""
    every = np.concatenate(tables)
    _, first, which = np.unique(every, return_index=True, return_inverse=True)
    holds = np.zeros((len(first), len(tables)), dtype=bool)
    ends = np.cumsum([len(one) for one in tables])
    holds[which, np.searchsorted(ends, np.arange(len(every)), side="right")] = True
    patterns, kind = np.unique(~holds, axis=0, return_inverse=True)  # those of most tables first
    order = np.lexsort([first, kind.reshape(-1)])
    place = np.empty(len(first), dtype=np.intp)
    place[order] = np.arange(len(first))
    counts = np.bincount(kind.reshape(-1), minlength=len(patterns))
    members = tuple(
        (_joint_name(names, ~absent), int(n), tuple((~absent).tolist()))
        for absent, n in zip(patterns, counts, strict=True)
    )
    return place[which], members


def _joint_name(names: tuple[str, ...], holds: Mask) -> str:
    own = [name for name, there in zip(names, holds, strict=True) if there]
    return own[0] if len(own) == 1 else " + ".join(own)


def _warn_of_conflicts(found: JoinedSource, source: FileSource) -> None:
    """Warn of columns in which tables contradict each other."""
    every = tuple(range(len(source.names)))
    table, start = found._table(every), 0
    differ = np.zeros(len(every))
    for piece in source.pieces(every, ROWS_A_BATCH):
        values, kept = piece.table(), table[found.place[start : start + piece.n_rows]]
        apart = np.abs(values - kept) > RELATIVE_TOLERANCE * np.maximum(np.abs(kept), 1.0)
        differ += apart.sum(axis=0)
        start += piece.n_rows
    places = np.flatnonzero(differ)
    if len(places):
        warn(
            f"Tables say different things of the same rows in {quoted(source.names, places)} "
            f"({int(differ.sum()):,} cells): those of the first table were kept. Rename columns "
            "that are not the same, or check the key.",
            TablesWarning,
        )
