"""Formats that a library reads as a whole: sheets, SPSS, Stata, SAS, R, JSON and databases."""

import json
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.messages import setting
from halfseen.io.coding import is_missing, text_of
from halfseen.io.formats.csv_dialect import ReadOptions, detect_sheet_layout
from halfseen.io.formats.format import (
    Format,
    Header,
    header_of,
    named,
    read_errors,
)

MAX_CACHED_TABLES = 4
_TABLES: OrderedDict[Any, "LoadedTable"] = OrderedDict()
"""Those that were read last: commands open the same one several times."""


class LoadedTable(NamedTuple):
    """The content of a file."""

    cells: Any  # an Arrow table
    notes: tuple[str, ...] = ()  # what is to be said of how it was found, after the file's name


@dataclass(frozen=True)
class WholeTable(Format):
    """A format that is read as a whole."""

    read: Callable[[Path, ReadOptions], LoadedTable]
    needs: str = ""  # the library, if none of ours
    extra: str = ""  # with which it is installed
    takes: tuple[str, ...] = ("table",)  # type: ignore[misc]  # what people may say of a file
    given: ReadOptions = ReadOptions()  # noqa: RUF009 - immutable

    def header(self, file: Path) -> Header:
        found = self._table(file)
        notes = tuple(f"{file.name} " + note + "." for note in found.notes)
        return header_of(found.cells.schema)._replace(notes=notes)

    def batches(self, file: Path, stored: tuple[str, ...], n_rows: int) -> Iterator[Any]:
        cells = self._table(file).cells.select(list(stored))
        yield from cells.combine_chunks().to_batches(n_rows)

    def _table(self, file: Path) -> LoadedTable:
        status = file.stat()
        key = (self, file.absolute(), status.st_size, status.st_mtime_ns)
        found = _TABLES.pop(key, None) or self._read(file)
        _TABLES[key] = found
        while len(_TABLES) > MAX_CACHED_TABLES:
            _TABLES.popitem(last=False)
        return found

    def _read(self, file: Path) -> LoadedTable:
        try:
            with read_errors(file, lambda: "its table"):
                return self.read(file, self.given)
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(
                f"Reading {file.name} needs {self.needs}. Install it with: pip install "
                f"'halfseen[{self.extra}]'"
            ) from missing


MAX_TABLES_NAMED = 12


def choose_table(file: Path, known: Sequence[str], asked: str | None, what: str = "tables") -> str:
    """The requested table, or the only one."""
    named = quoted(known, most=MAX_TABLES_NAMED)
    if asked is not None and asked not in known:
        raise DataError(f"{file.name} has no table '{asked}'. It has {named or 'none'}.")
    if asked is not None:
        return asked
    if not known:
        raise DataError(f"{file.name} holds no table. Give a file with one.")
    if len(known) > 1:
        raise DataError(
            f"{file.name} holds several {what}: {named}. Say which one with "
            + setting(table=known[0])
            + "."
        )
    return known[0]


def arrow_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Rows of cells as an Arrow table; short rows end in gaps.

    >>> table = arrow_table(["age", "who"], [[61, "Ada"], [40.5]])
    >>> table["age"].to_pylist(), table["who"].to_pylist()
    ([61.0, 40.5], ['Ada', None])
    """
    columns = [
        arrow_column([row[place] if place < len(row) else None for row in rows])
        for place in range(len(names))
    ]
    return pa.Table.from_arrays(columns, names=list(names))


def arrow_column(cells: Sequence[Any]) -> Any:
    """An Arrow column of cells that may be of several types."""
    known = [None if is_missing(cell) or cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    if not kinds:
        return pa.array([None] * len(known), pa.float64())
    if kinds <= {bool}:
        return pa.array(known, pa.bool_())
    if bool not in kinds and all(issubclass(kind, Real | Decimal) for kind in kinds):
        return _numbers(known)
    if all(issubclass(kind, date) for kind in kinds):
        return pa.array([None if cell is None else _moment(cell) for cell in known])
    return pa.array([text_of(cell, frozenset()) for cell in known], pa.string())


def _numbers(known: Sequence[Any]) -> Any:
    """Whole numbers as such where they need all of their digits, as identifiers do."""
    if all(cell is None or isinstance(cell, int) for cell in known):
        try:
            return pa.array(known, pa.int64())
        except OverflowError:
            return pa.array([None if cell is None else str(cell) for cell in known], pa.string())
    return pa.array([None if cell is None else float(cell) for cell in known], pa.float64())


def _moment(cell: date) -> datetime:
    moment = cell if isinstance(cell, datetime) else datetime(cell.year, cell.month, cell.day)
    return moment.replace(tzinfo=None)


HEAD_ROWS = 500
"""Rows by which it is judged where the table begins."""


def read_spreadsheet(file: Path, given: ReadOptions) -> LoadedTable:
    """The requested sheet, or the first that is not empty."""
    from python_calamine import CalamineWorkbook

    with CalamineWorkbook.from_path(str(file)) as book:
        sheets = list(book.sheet_names)
        if given.table is not None:
            choose_table(file, sheets, given.table)
            return _table(book.get_sheet_by_name(given.table).to_python(), given)
        for name in sheets:
            rows = book.get_sheet_by_name(name).to_python()
            if rows:
                return _with_sheet_note(_table(rows, given), name, sheets)
    raise DataError(f"{file.name} has no sheet that holds anything. Give a file with a table.")


def _with_sheet_note(table: LoadedTable, name: str, sheets: Sequence[str]) -> LoadedTable:
    others = [sheet for sheet in sheets if sheet != name]
    if not others:
        return table
    note = (
        f"has {len(sheets)} sheets, of which '{name}' was read; use "
        + setting(table=others[0])
        + f" for another ({quoted(others, most=5)})"
    )
    return table._replace(notes=(note, *table.notes))


def _table(rows: list[list[Any]], given: ReadOptions) -> LoadedTable:
    words = [[text_of(cell, frozenset()) or "" for cell in row] for row in rows[:HEAD_ROWS]]
    frame = detect_sheet_layout(words, given)
    names, body = frame.names, rows[frame.skip :]
    if names is None:
        head = [text_of(cell, frozenset()) or "" for cell in body[0]]
        names, body = tuple(named(name, i) for i, name in enumerate(head)), body[1:]
    body = body[int(frame.units) :]
    filled = [row for row in body if any(cell not in ("", None) for cell in row)]
    return LoadedTable(arrow_table(names, filled), frame.notes)


READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
ORDINAL = "ordinal"


def read_statistics(file: Path, given: ReadOptions) -> LoadedTable:
    """All columns of an SPSS, Stata or SAS file; declared missing values are gaps."""
    import pyreadstat

    read: Callable[..., Any] = getattr(pyreadstat, READERS[file.suffix.lower()])
    options = {} if given.encoding is None else {"encoding": given.encoding}
    columns, about = read(str(file), output_format="dict", **options)
    labels, measures = about.variable_value_labels, about.variable_measure
    made = {
        name: _labelled(cells, labels.get(name, {}), measures.get(name) == ORDINAL)
        for name, cells in columns.items()
    }
    return LoadedTable(pa.table(made))


def _labelled(cells: Any, labels: Mapping[Any, str], ordered: bool) -> Any:
    """Value labels as categories, if all values have one."""
    plain = arrow_column(np.asarray(cells, dtype=object).tolist())
    different = set(plain.unique().drop_null().to_pylist())
    if not labels or not different or not different <= set(labels):
        return plain
    codes = sorted(labels)
    words = [str(labels[code]) for code in codes]
    if len(set(words)) < len(words):
        words = [f"{code:g} {word}" for code, word in zip(codes, words, strict=True)]
    place = {code: number for number, code in enumerate(codes)}
    indices = [None if cell is None else place[cell] for cell in plain.to_pylist()]
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, pa.int32()), pa.array(words, pa.string()), ordered=ordered
    )


def read_r(file: Path, given: ReadOptions) -> LoadedTable:
    """The requested data frame, or the only one."""
    import pyreadr

    frames = {str(name): frame for name, frame in pyreadr.read_r(str(file)).items()}
    name = choose_table(file, list(frames), given.table, "data frames")
    return LoadedTable(pa.Table.from_pandas(frames[name], preserve_index=False))


def read_json(file: Path, given: ReadOptions) -> LoadedTable:
    """Objects by their keys; missing keys are gaps."""
    objects = _objects(file, given.encoding or "utf-8-sig")
    names = dict.fromkeys(key for one in objects for key in one)
    columns = {name: [one.get(name) for one in objects] for name in names}
    return LoadedTable(pa.table({str(name): _column(cells) for name, cells in columns.items()}))


def _column(cells: list[Any]) -> Any:
    nested = any(isinstance(cell, dict | list) for cell in cells)
    return pa.array(cells) if nested else arrow_column(cells)


def _objects(file: Path, encoding: str) -> list[dict[str, Any]]:
    text = file.read_text(encoding)
    try:
        whole = json.loads(text)
        found = whole if isinstance(whole, list) else [whole]
    except json.JSONDecodeError:
        found = [json.loads(line) for line in text.splitlines() if line.strip()]
    if len(found) == 1 and isinstance(found[0], dict) and _by_column(found[0]):
        by_column = found[0]
        columns = zip(*by_column.values(), strict=True)
        return [dict(zip(by_column, row, strict=True)) for row in columns]
    if not all(isinstance(one, dict) for one in found):
        raise DataError(
            f"{file.name} holds JSON that is no table. Write a list of objects, or an object a "
            'line, such as {"age": 61, "pulse": 80}.'
        )
    return found


def _by_column(one: dict[str, Any]) -> bool:
    lists = [value for value in one.values() if isinstance(value, list)]
    return bool(lists) and len(lists) == len(one) and len({len(each) for each in lists}) == 1


QUERY = re.compile(r"\s*(select|with)\s", re.IGNORECASE)


def is_query(table: str | None) -> bool:
    """Whether a table is given by a query rather than by name.

    >>> is_query("select age from patients"), is_query("selected")
    (True, False)
    """
    return table is not None and QUERY.match(table) is not None


def read_sqlite(file: Path, given: ReadOptions) -> LoadedTable:
    """A table of a file, or the result of a query."""
    address = f"{file.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        asked = given.table
        if asked is None or not is_query(asked):
            listed = (
                "select name from sqlite_master where type in ('table', 'view') and name not like "
                "'sqlite_%' order by name"
            )
            known = [str(name) for (name,) in connection.execute(listed)]
            asked = f"select * from {quoted_name(choose_table(file, known, asked))}"
        cursor = connection.execute(asked)
        names = [str(column[0]) for column in cursor.description]
        return LoadedTable(arrow_table(names, cursor.fetchall()))


def read_duckdb(file: Path, given: ReadOptions) -> LoadedTable:
    """A table of a file, or the result of a query."""
    import duckdb

    with duckdb.connect(str(file), read_only=True) as connection:
        asked = given.table
        if asked is None or not is_query(asked):
            known = [str(row[0]) for row in connection.execute("show tables").fetchall()]
            asked = f"select * from {quoted_name(choose_table(file, known, asked))}"
        result = connection.execute(asked)
        names = [str(column[0]) for column in result.description]
        return LoadedTable(arrow_table(names, result.fetchall()))


def quoted_name(table: str) -> str:
    """A name quoted for SQL."""
    doubled = table.replace('"', '""')
    return f'"{doubled}"'


def fetch_table(address: str, table: str | None) -> Any:
    """A table or query of a database, as an Arrow table."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(address)
    with engine.connect() as connection:
        if table is not None and is_query(table):
            result = connection.execute(sqlalchemy.text(table))
        else:
            known = sorted(sqlalchemy.inspect(engine).get_table_names())
            name = choose_table(Path(engine.url.database or "the database"), known, table)
            wanted = sqlalchemy.table(name)
            result = connection.execute(sqlalchemy.select(sqlalchemy.text("*")).select_from(wanted))
        names = [str(name) for name in result.keys()]  # noqa: SIM118 - no mapping
        rows: Sequence[Sequence[Any]] = [tuple(row) for row in result]
    engine.dispose()
    return arrow_table(names, rows)
