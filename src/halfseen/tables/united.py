"""The tables of several studies: files of each, with columns called and measured alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.batches import is_batches
from halfseen.tables.cells.sums import CellSums
from halfseen.tables.cells.writing import Writing
from halfseen.tables.file_source import Affine, OneFile, Span
from halfseen.tables.files import Files
from halfseen.tables.formats.format import Header
from halfseen.tables.formats.held import Held, as_arrow
from halfseen.tables.found_coding import Seen
from halfseen.tables.one_table import OneTable, names_of, table_of
from halfseen.tables.sparse_file import is_sparse_file
from halfseen.tables.studies import Studies, is_dask


def tables_of(studies: Studies) -> tuple[OneTable, ...]:
    """The tables of studies, by the names of their columns in the end."""
    every = zip(studies.tables, studies.called, strict=True)
    tables = tuple(_renamed(_opened(given, name), name, studies) for given, name in every)
    known = names_of(tables)
    lacking = [old for old in studies.rename.get("", {}) if not _renames(tables, old, studies)]
    if lacking:
        raise DataError(
            f"rename names {quoted(lacking, range(len(lacking)))}, which no table has. They have "
            f"{quoted(known, range(len(known)), 12)}."
        )
    return tables


def _renames(tables: tuple[OneTable, ...], old: str, studies: Studies) -> bool:
    new = studies.rename[""][old]
    return any(new in table.names for table in tables)


def _opened(given: Any, name: str) -> OneTable:
    """One study, whatever it is in."""
    if isinstance(given, str | Path | Files):
        files = given if isinstance(given, Files) else Files(given)
        _check_member(files, name)
        table = table_of(files)
        if not table.named:
            raise DataError(
                f"{name} has no names of columns, and tables are put together by name. Give data "
                "frames, or files in which columns have names."
            )
        kept = table if files.columns is None and not files.drop else _chosen(table, files)
        return kept._replace(gap_codes=files.gap_codes, only=False)
    held = _held(given)
    path = Path(name)
    return OneTable((OneFile(path, None, held.header(path), held),), only=False)


def _check_member(files: Files, name: str) -> None:
    if isinstance(files, Studies):
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


def _chosen(table: OneTable, files: Files) -> OneTable:
    """A table with only the columns that its own Files choose."""
    wanted = table.names if files.columns is None else tuple(map(str, files.columns))
    lacking = [name for name in (*wanted, *map(str, files.drop)) if name not in table.names]
    if lacking:
        raise DataError(
            f"{table.files[0].path.name} has no column {quoted(lacking, range(len(lacking)))}. It "
            f"has {quoted(table.names, range(len(table.names)), 12)}."
        )
    keep = set(wanted) - set(map(str, files.drop))
    return _with_headers(
        table,
        lambda header: header._replace(
            fields=tuple(field for field in header.fields if field.name in keep)
        ),
    )


def _with_headers(table: OneTable, change: Any) -> OneTable:
    files = tuple(file._replace(header=change(file.header)) for file in table.files)
    return table._replace(files=files)


def _held(given: Any) -> Held:
    """A table in memory, in batches, or one of Dask's."""
    if is_dask(given):
        if not hasattr(given, "to_delayed") or not hasattr(given, "columns"):
            raise DataError(
                f"A {type(given).__name__} of Dask has no names of columns, and tables are put "
                "together by name. Give a dask.dataframe."
            )
        parts = tuple(given.to_delayed())
        return Held(partial(_computed, parts), parts)
    if is_batches(given):
        return Held(partial(_each, given))
    return Held.of(given)


def _each(batches: Any) -> Iterator[Any]:
    return map(as_arrow, batches)


def _computed(parts: tuple[Any, ...]) -> Iterator[Any]:
    return (as_arrow(part.compute()) for part in parts)


def _renamed(table: OneTable, name: str, studies: Studies) -> OneTable:
    """The table with its columns called, and measured, as those of others are."""
    own = studies.rename.get(name, {})
    lacking = [old for old in own if old not in table.names]
    if lacking:
        raise DataError(
            f"rename names {quoted(lacking, range(len(lacking)))}, which {name} does not have. It "
            f"has {quoted(table.names, range(len(table.names)), 12)}."
        )
    new = {**studies.rename.get("", {}), **own}
    if new:
        table = _with_headers(table, partial(_called, new, name))
    units = studies.units.get(name, {})
    lacking = [column for column in units if column not in table.names]
    if lacking:
        raise DataError(
            f"units names {quoted(lacking, range(len(lacking)))}, which {name} does not have. It "
            f"has {quoted(table.names, range(len(table.names)), 12)}."
        )
    return table._replace(
        files=tuple(_measured(file, units, name, studies) for file in table.files)
    )


def _called(new: dict[str, str], table: str, header: Header) -> Header:
    fields = tuple(field._replace(name=new.get(field.name, field.name)) for field in header.fields)
    names = [field.name for field in fields]
    twice = [name for name in names if names.count(name) > 1 and name in new.values()]
    if twice:
        raise DataError(
            f"Renamed, {table} would have two columns '{twice[0]}'. Leave one of them out with "
            "Files(path, drop=...), or choose another name."
        )
    return header._replace(fields=fields)


def _measured(file: OneFile, units: Mapping[str, Affine], name: str, studies: Studies) -> OneFile:
    """A file in the units of others, and moved as a fit has found it."""
    kept, moved = studies.kept, dict(units)
    if kept is not None and name in kept.names:
        own = kept.names.index(name)
        for place, column in enumerate(kept.columns):
            before = moved.get(column, Affine())
            by, more = float(kept.factor[own, place]), float(kept.shift[own, place])
            if (by, more) != (1.0, 0.0):
                moved[column] = Affine(before.factor * by, before.shift * by + more)
    return file._replace(moved=moved) if moved else file


def spans(studies: Studies, files: Sequence[Sequence[OneFile]]) -> tuple[Span, ...]:
    """Which files are of which study; refused if nothing ties the studies to each other."""
    if studies.kept is None and studies.on is None:
        _check_tied(studies, [set(some[0].written) for some in files])
    ends = np.cumsum([len(some) for some in files]).tolist()
    each = zip(studies.called, [0, *ends], ends, strict=False)
    return tuple(Span(*one) for one in each)


def _check_tied(studies: Studies, columns: list[set[str]]) -> None:
    shared = [[bool(one & other) for other in columns] for one in columns]
    n_parts, part = connected_components(np.array(shared), directed=False)
    if n_parts == 1:
        return
    apart = [name for name, own in zip(studies.called, part, strict=True) if own != part[0]]
    others = [name for name, own in zip(studies.called, part, strict=True) if own == part[0]]
    raise DataError(
        f"{' and '.join(others[:3])} and {' and '.join(apart[:3])} have no column in common that "
        "can be used, so that nothing ties them to each other. Rename columns that are the same "
        "(rename=), or join rows of the same people (on=)."
    )


def united(tables: list[Seen]) -> Seen:
    """What was seen of a column in several tables; each may write numbers in its own way."""
    if not tables:
        return Seen(CellSums())
    writings = {one.cells.writing for one in tables if one.cells.known}
    if len(writings) > 1 and not writings & {None, Writing.ANSWERS, Writing.TRUTHS}:
        tables = [replace(one, cells=_as_plain(one.cells)) for one in tables]
    total = tables[0].cells
    for one in tables[1:]:
        total = total + one.cells
    other = next((one.other for one in tables if one.other is not None), None)
    rows = [one.numbers_rows for one in tables if one.cells.n_rows]
    return Seen(total, other, bool(rows) and (all(rows) or total.run.numbers_rows))


def _as_plain(cells: CellSums) -> CellSums:
    n = cells.n_values
    return replace(cells, plain=n, thousands=n, decimal_commas=n, european=n)
