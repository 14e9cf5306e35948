"""Sheets of Excel and LibreOffice, read by calamine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.io.cells.category_codes import text_of
from halfseen.io.formats.arrow_columns import named
from halfseen.io.formats.csv_dialect import ReadOptions, detect_sheet_layout
from halfseen.io.formats.in_memory import LoadedTable, arrow_table, choose_table

LOOKED_AT = 500
"""Rows by which it is judged where the table begins."""


def read_spreadsheet(file: Path, given: ReadOptions) -> LoadedTable:
    """The sheet that is asked for, or the first that holds anything."""
    from python_calamine import CalamineWorkbook

    with CalamineWorkbook.from_path(str(file)) as book:
        sheets = list(book.sheet_names)
        if given.table is not None:
            choose_table(file, sheets, given.table)
            return _table(book.get_sheet_by_name(given.table).to_python(), given)
        for name in sheets:
            rows = book.get_sheet_by_name(name).to_python()
            if rows:
                return _told(_table(rows, given), name, sheets)
    raise DataError(f"{file.name} has no sheet that holds anything. Give a file with a table.")


def _told(table: LoadedTable, name: str, sheets: Sequence[str]) -> LoadedTable:
    others = [sheet for sheet in sheets if sheet != name]
    if not others:
        return table
    note = (
        f"has {len(sheets)} sheets, of which '{name}' was read; use "
        + setting(table=others[0])
        + f" for another ({quoted(others, range(len(others)), 5)})"
    )
    return table._replace(notes=(note, *table.notes))


def _table(rows: list[list[Any]], given: ReadOptions) -> LoadedTable:
    """The table among the rows of a sheet."""
    words = [[text_of(cell, frozenset()) or "" for cell in row] for row in rows[:LOOKED_AT]]
    frame = detect_sheet_layout(words, given)
    names, body = frame.names, rows[frame.skip :]
    if names is None:
        head = [text_of(cell, frozenset()) or "" for cell in body[0]]
        names, body = tuple(named(name, i) for i, name in enumerate(head)), body[1:]
    body = body[int(frame.units) :]
    filled = [row for row in body if any(cell not in ("", None) for cell in row)]
    return LoadedTable(arrow_table(names, filled), frame.notes)
