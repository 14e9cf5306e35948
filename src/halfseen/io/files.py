"""A table in files: what is said of them, and which they are (named, in a folder, by a pattern)."""

import atexit
import codecs
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from halfseen.data.engines.batched import MEMORY
from halfseen.data.errors import DataError
from halfseen.data.messages import parameter, setting
from halfseen.io.file_source import TableFile, file_stamp
from halfseen.io.formats import ENDING_ALIASES, ENDINGS, MARKETS
from halfseen.io.formats.csv_dialect import ReadOptions
from halfseen.io.formats.format import Format
from halfseen.io.formats.whole_table import fetch_table
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.text import Text

if TYPE_CHECKING:
    from halfseen.io.studies import Studies

STANDARD_INPUT = "-"
CELL_OPTIONS = ("absent_as_zero", "dates", "decimal")
"""What is said of cells, in all tables alike if there are several."""


@dataclass(frozen=True)
class Files:
    """A table in files, for ``fit``, where a path alone does not say enough.

    Columns that hold no numbers, and such as number the rows, are left aside with a warning that
    names them, unless ``columns`` are chosen. Models of mixed kinds of columns take words too, up
    to a hundred different ones a column.

    Parameters
    ----------
    path : str, Path or sequence of them
        A Parquet, Arrow, Feather, CSV, TSV (also gzipped: ``.csv.gz``), ``.npy`` or ``.npz`` file;
        a file of Excel, SPSS, Stata, SAS, R, JSON, SQLite or DuckDB; a folder of files of one kind,
        or several files, or a pattern such as ``"visits-*.csv"``; a connection string of a
        database, such as ``"postgresql://host/clinic"``, with ``table``; or ``"-"`` for standard
        input. Files of one table have the same columns, in any order. A
        sparse matrix in a file (``.mtx``, or ``.npz`` of SciPy) is read as a whole.
    columns : sequence of str or int, or None, default=None
        Which columns to learn from, in this order; the others are not read. By name, or by number
        in NumPy's files. None takes all that hold numbers.
    drop : sequence of str or int, default=()
        Columns that are not read, whatever they hold.
    vocabulary : str, Path, sequence of str or None, default=None
        What the columns of a sparse matrix are called: a text file of one word a line, or the
        words. None looks beside the matrix, by names such as ``ap_terms.txt``, ``ap.vocab`` or
        ``vocabulary.txt`` beside ``ap.mtx``, or for an array ``vocab`` in an ``.npz``, and takes
        what has as many words as there are columns; ``()`` leaves columns to their numbers.
    text : Text or None, default=None
        The column of text whose words are counted, and how: ``Text("review")``. Nothing else of
        the file is read then. For models that take sparse counts.
    show_text : bool, default=False
        Whether what is said of columns may quote cells of text, which may be names of people.
    memory : float, default=256
        MB that the batches of rows in flight may take together, which sets how many rows are read
        at a time. Beside it stand the sums of the fit, and what the format must hold at once: a
        page of each column of a Parquet file, a whole record batch of an Arrow file. More than the
        default is no faster.
    dask : bool, default=False
        Have the rows read and summed by Dask's workers, who must all see the path: those of the
        current ``distributed.Client`` or, without one, threads of this process. Every row group of
        a Parquet file is a partition, every file of another kind is one.
    missing_values : sequence of str, or dict from columns to such, default=()
        Cells that stand for a gap, such as ``["unknown", "-999"]``, beside empty ones, NA, NaN,
        null and the like; ``{"insulin": ["0"]}`` or ``["insulin:0"]`` for those of a column.
    absent_as_zero : bool or sequence of str, default=()
        Columns of numbers in which a gap means nought, such as drugs that were not given; True for
        all of them.
    dates : str or None, default=None
        Read dates as days since this one, such as ``"2000-01-01"``, times of day being parts of
        days. None leaves columns of dates aside.
    decimal : {",", "."} or None, default=None
        What stands before decimals in numbers written as text. None finds it out by column.
    encoding : str or None, default=None
        Of text: ``"utf-8"``, ``"cp1252"`` and the like. None finds it out.
    header : bool or None, default=None
        Whether text, or a sheet, has a line of names. None finds it out.
    skip : int or None, default=None
        Lines before that of names, or before the first row. None finds them: titles, comments.
    table : str or None, default=None
        Which table, of a file or a database that has several: a sheet, a data frame, a name; of
        databases also a query, ``"select age, pulse from visits"``.
    preprocessing : Preprocessing or None, default=None
        Logarithms, shifts and scales of the columns, which are then those of its ``fitted_names``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from halfseen import Files, GaussianMixture, simulate
    >>> rng = np.random.default_rng(0)
    >>> X, _ = simulate.gaussian_mixture(500, [0.5, 0.5], [[0, 0, 0], [9, 9, 9]], 1.0, rng)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(Path(folder) / "table.npy", X)
    ...     model = GaussianMixture(2).fit(Files(folder, columns=[0, 2]))
    >>> model.means_.shape
    (2, 2)
    """

    path: str | Path | Sequence[str | Path]
    columns: Sequence[str | int] | None = None
    memory: float = MEMORY
    dask: bool = False
    missing_values: Sequence[str] | Mapping[str, Sequence[str]] = ()
    preprocessing: Preprocessing | None = None
    drop: Sequence[str | int] = ()
    show_text: bool = False
    vocabulary: str | Path | Sequence[str] | None = None
    text: Text | None = None
    encoding: str | None = None
    header: bool | None = None
    skip: int | None = None
    table: str | None = None
    absent_as_zero: bool | Sequence[str] = ()
    dates: str | None = None
    decimal: str | None = None

    @property
    def studies(self) -> "Studies | None":
        """The tables of :func:`together`, if these files are several tables."""
        return None

    @property
    def gap_codes(self) -> tuple[str, ...]:
        """Codes for missing values, as ``code`` or ``column:code``.

        >>> Files("t.csv", missing_values={"insulin": ["0"], "glucose": ["0", "-9"]}).gap_codes
        ('insulin:0', 'glucose:0', 'glucose:-9')
        """
        if not isinstance(self.missing_values, Mapping):
            return tuple(self.missing_values)
        pairs = self.missing_values.items()
        return tuple(f"{column}:{cell}" for column, cells in pairs for cell in cells)

    @property
    def paths(self) -> tuple[str | Path, ...]:
        """The paths as given."""
        return (self.path,) if isinstance(self.path, str | Path) else tuple(self.path)

    @property
    def name(self) -> str:
        """The name for messages."""
        if len(self.paths) != 1:
            return f"{len(self.paths)} files"
        only = self.paths[0]
        if str(only) == STANDARD_INPUT:
            return "standard input"
        return str(only).rpartition("@")[2] if is_address(only) else Path(only).name

    @property
    def single(self) -> Path:
        """The only file or folder, or the first of several."""
        return Path(self.paths[0]) if self.paths else Path()


def is_address(path: str | Path) -> bool:
    """Whether a path is a connection string of a database.

    >>> is_address("sqlite:///clinic.db"), is_address("clinic.db")
    (True, False)
    """
    return "://" in str(path)


def paths_of(X: Any) -> tuple[str | Path, ...]:
    """The local files and folders of a table."""
    if isinstance(X, Files):
        return X.paths
    return (X,) if isinstance(X, str | Path) else ()


MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"PK\x03\x04": ".xlsx", b"SQLite": ".sqlite"}
"""How what comes through a pipe begins; all else is text."""
METADATA_ENDINGS = (*ENDING_ALIASES, ".json")
"""Endings of tables that files about tables have too."""
OPTIONS = ("encoding", "header", "skip", "table")


def find_files(given: Files) -> tuple[tuple[Path, ...], Format]:
    """The files in order of their names, and their format."""
    kinds = {
        file: ending for path in given.paths for file, ending in _files_at(path, given).items()
    }
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


def _files_at(path: str | Path, given: Files) -> dict[Path, str]:
    if str(path) == STANDARD_INPUT or is_address(path):
        path = _from_pipe() if str(path) == STANDARD_INPUT else _from_database(path, given.table)
    path = Path(path)
    if not path.exists() and has_magic(str(path)):
        fitting = sorted(map(Path, glob(str(path), recursive=True)))
        if not fitting:
            raise DataError(f"No file fits the pattern {path}. Check it, or name the files.")
        return {file: _known_ending(file) for file in fitting if _is_visible(file)}
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    if path.is_dir():
        listed = sorted(filter(_is_visible, path.iterdir()))
        found = {file: ending for file in listed if (ending := _ending(file))}
        # Beside tables, a .txt or .json is more likely to tell of them.
        tables = {file: ending for file, ending in found.items() if ending not in METADATA_ENDINGS}
        return tables or found
    return {path: _known_ending(path)}


def _known_ending(file: Path) -> str:
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
            + f" says nothing of {given.name}: {_OPTION_USES[wrong[0]]}. Leave it out."
        )
    if "encoding" in said:
        _check_encoding(said["encoding"])
    if said.get("skip", 0) < 0:
        raise ValueError(setting(skip=said["skip"]) + " is no number of lines. Give 0 or more.")
    return replace(format, given=ReadOptions(**said))  # type: ignore[type-var]


_OPTION_USES = {
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
    """Copy standard input to a file, because it is read several times."""
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
    """The names of all columns, in order of first occurrence."""
    return tuple(dict.fromkeys(name for table in tables for name in table.names))
