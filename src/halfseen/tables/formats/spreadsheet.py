"""Sheets of Excel and LibreOffice, read by calamine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.cells.words import word_of
from halfseen.tables.formats.arrow_columns import named
from halfseen.tables.formats.one_of_several import the_one
from halfseen.tables.formats.python_cells import arrow_table
from halfseen.tables.formats.text_frame import Given, framed_cells
from halfseen.tables.formats.whole_table import Table

LOOKED_AT = 500
"""Rows by which it is judged where the table begins."""


def read_spreadsheet(file: Path, given: Given) -> Table:
    """The sheet that is asked for, or the first that holds anything."""
    from python_calamine import CalamineWorkbook

    with CalamineWorkbook.from_path(str(file)) as book:
        sheets = list(book.sheet_names)
        if given.table is not None:
            the_one(file, sheets, given.table)
            return _table(book.get_sheet_by_name(given.table).to_python(), given)
        for name in sheets:
            rows = book.get_sheet_by_name(name).to_python()
            if rows:
                return _told(_table(rows, given), name, sheets)
    raise DataError(f"{file.name} has no sheet that holds anything. Give a file with a table.")


def _told(table: Table, name: str, sheets: Sequence[str]) -> Table:
    others = [sheet for sheet in sheets if sheet != name]
    if not others:
        return table
    note = (
        f"has {len(sheets)} sheets, of which '{name}' was read; use table={others[0]!r} for "
        f"another ({quoted(others, range(len(others)), 5)})"
    )
    return table._replace(notes=(note, *table.notes))


def _table(rows: list[list[Any]], given: Given) -> Table:
    """The table among the rows of a sheet."""
    words = [[word_of(cell, frozenset()) or "" for cell in row] for row in rows[:LOOKED_AT]]
    frame = framed_cells(words, given)
    names, body = frame.names, rows[frame.skip :]
    if names is None:
        head = [word_of(cell, frozenset()) or "" for cell in body[0]]
        names, body = tuple(named(name, i) for i, name in enumerate(head)), body[1:]
    body = body[int(frame.units) :]
    filled = [row for row in body if any(cell not in ("", None) for cell in row)]
    return Table(arrow_table(names, filled), frame.notes)
