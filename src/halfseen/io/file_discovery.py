"""Which files a table is in: those that are named, those of a folder, those that fit a pattern."""

import atexit
import codecs
import shutil
import sys
import tempfile
from dataclasses import replace
from functools import cache
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from halfseen.data.errors import DataError
from halfseen.data.messages import parameter, setting
from halfseen.io.file_source import TableFile, file_stamp
from halfseen.io.files import STANDARD_INPUT, Files, is_address
from halfseen.io.formats import ALSO, ENDINGS
from halfseen.io.formats.csv_dialect import ReadOptions
from halfseen.io.formats.database import fetch_table
from halfseen.io.formats.format import Format
from halfseen.io.sparse_file import MARKETS

MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"PK\x03\x04": ".xlsx", b"SQLite": ".sqlite"}
"""How what comes through a pipe begins; all else is text."""
BESIDE = (*ALSO, ".json")
"""Endings of tables that files about tables have too."""
OPTIONS = ("encoding", "header", "skip", "table")


def find_files(given: Files) -> tuple[tuple[Path, ...], Format]:
    """The files, sorted by name within folders and patterns, and what they all are."""
    kinds = {file: ending for path in given.paths for file, ending in _those(path, given).items()}
    if not kinds:
        raise DataError(f"{given.name} holds no file that ends in {', '.join(ENDINGS)}.")
    formats = {ENDINGS[ending] for ending in kinds.values()}
    if len(formats) > 1:
        endings = ", ".join(sorted(set(kinds.values())))
        raise DataError(
            f"{given.path if len(given.paths) == 1 else given.name} holds files of several kinds "
            f"({endings}). Keep those of one table in a folder of their own."
        )
    return tuple(kinds), _with_options(formats.pop(), given)


def _those(path: str | Path, given: Files) -> dict[Path, str]:
    """The files that a path stands for, and how each ends."""
    if str(path) == STANDARD_INPUT or is_address(path):
        path = _from_pipe() if str(path) == STANDARD_INPUT else _from_database(path, given.table)
    path = Path(path)
    if not path.exists() and has_magic(str(path)):
        fitting = sorted(map(Path, glob(str(path), recursive=True)))
        if not fitting:
            raise DataError(f"No file fits the pattern {path}. Check it, or name the files.")
        return {file: _known(file) for file in fitting if _is_visible(file)}
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    if path.is_dir():
        listed = sorted(filter(_is_visible, path.iterdir()))
        found = {file: ending for file in listed if (ending := _ending(file))}
        # Beside tables, a .txt or .json is more likely to tell of them.
        tables = {file: ending for file, ending in found.items() if ending not in BESIDE}
        return tables or found
    return {path: _known(path)}


def _known(file: Path) -> str:
    ending = _ending(file)
    if ending is None:
        raise ValueError(
            f"{file.name} is of no kind that is known. Files end in "
            f"{', '.join([*ENDINGS, *MARKETS])}."
        )
    return ending


def _is_visible(file: Path) -> bool:
    return not file.name.startswith((".", "_"))  # as PyArrow has it


def _ending(file: Path) -> str | None:
    return next((ending for ending in ENDINGS if file.name.lower().endswith(ending)), None)


def _with_options(format: Format, given: Files) -> Format:
    """The format, with what people say of the files."""
    said = {name: getattr(given, name) for name in OPTIONS if getattr(given, name) is not None}
    if any(map(is_address, given.paths)):
        said.pop("table", None)  # what was fetched is that table
    if not said:
        return format
    takes: Any = getattr(format, "takes", ())
    wrong = [name for name in said if name not in takes]
    if wrong:
        raise ValueError(
            setting(**{wrong[0]: said[wrong[0]]})
            + f" says nothing of {given.name}: {_FOR[wrong[0]]}. Leave it out."
        )
    if "encoding" in said:
        _check_encoding(said["encoding"])
    if said.get("skip", 0) < 0:
        raise ValueError(setting(skip=said["skip"]) + " is no number of lines. Give 0 or more.")
    return replace(format, given=ReadOptions(**said))  # type: ignore[type-var]


_FOR = {
    "encoding": "it is for text",
    "header": "it is for text and sheets",
    "skip": "it is for text and sheets",
    "table": "it is for files that hold several, such as those of Excel, R and databases",
}


def _check_encoding(name: str) -> None:
    try:
        codecs.lookup(name)
    except LookupError:
        raise ValueError(
            setting(encoding=name)
            + " is not known. Use 'utf-8', 'utf-16', 'cp1252', 'latin-1' or another of Python's."
        ) from None


@cache
def _from_pipe() -> Path:
    """What comes through standard input, as a file: it is gone through several times."""
    folder, data = _folder(), sys.stdin.buffer
    start = data.read(8)
    if not start:
        raise DataError("Nothing came through standard input. Pipe a table to it.")
    ending = next((end for magic, end in MAGIC.items() if start.startswith(magic)), None)
    if ending is None:
        ending = ".csv.gz" if start.startswith(b"\x1f\x8b") else ".csv"
        ending = ".jsonl" if start.lstrip()[:1] in (b"{", b"[") else ending
    path = folder / f"standard input{ending}"
    with path.open("wb") as file:
        file.write(start)
        shutil.copyfileobj(data, file)
    return path


@cache
def _from_database(address: str | Path, table: str | None) -> Path:
    """What a database gives, as a file."""
    try:
        found = fetch_table(str(address), table)
    except ModuleNotFoundError as missing:
        if missing.name != "sqlalchemy":
            raise DataError(
                f"The database needs {missing.name}, which is not installed. Install it with: pip "
                f"install {missing.name}"
            ) from missing
        raise ModuleNotFoundError(
            "Reading databases by a connection string needs SQLAlchemy. Install it with: pip "
            "install 'halfseen[sql]'"
        ) from missing
    except DataError:
        raise
    except Exception as error:
        # Which libraries of databases raise whatever they like, and may quote passwords.
        reason = type(error).__name__
        raise DataError(
            f"The database cannot be read ({reason}). Check the connection string, and give a name "
            "or a query with " + parameter("table", "table=") + "."
        ) from error
    path = _folder() / "database.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, found.schema) as writer:
        writer.write_table(found)
    return path


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="halfseen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class FileTable(NamedTuple):
    """The files of one table, all of one format."""

    files: tuple[TableFile, ...]
    gap_codes: tuple[str, ...] = ()  # what stands for a gap in this table, beside others
    only: bool = True  # or one of several, which may lack columns

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the first file, which others have too."""
        return self.files[0].header.names

    @property
    def named(self) -> bool:
        """Whether columns have names, or only numbers."""
        return self.files[0].header.named


def open_file_table(given: Files) -> FileTable:
    """The table that files are, where they are one."""
    paths, format = find_files(given)
    return FileTable(
        tuple(TableFile(path, file_stamp(path), format.header(path), format) for path in paths)
    )


def all_column_names(tables: tuple[FileTable, ...]) -> tuple[str, ...]:
    """All columns, in the order in which tables first have them."""
    return tuple(dict.fromkeys(name for table in tables for name in table.names))
