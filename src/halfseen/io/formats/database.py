"""Tables of databases: files of SQLite and DuckDB, and whatever a connection string names."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from halfseen.io.formats.csv_dialect import ReadOptions
from halfseen.io.formats.in_memory import LoadedTable, arrow_table, choose_table

QUERY = re.compile(r"\s*(select|with)\s", re.IGNORECASE)


def is_query(table: str | None) -> bool:
    """Whether a table is given by a query rather than by name.

    >>> is_query("select age from patients"), is_query("selected")
    (True, False)
    """
    return table is not None and QUERY.match(table) is not None


def read_sqlite(file: Path, given: ReadOptions) -> LoadedTable:
    """The table of a file, or what a query gives."""
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
    """The table of a file, or what a query gives."""
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
    """A name as SQL has it."""
    doubled = table.replace('"', '""')
    return f'"{doubled}"'


def fetch_table(address: str, table: str | None) -> Any:
    """What a connection string and a table, or a query, give: an Arrow table."""
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
