"""A table in a file, or in all files of one kind in a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from halfseen.data.engines.batched import MEMORY
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.text import Text

STANDARD_INPUT = "-"
OF_CELLS = ("absent_as_zero", "dates", "decimal")
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
    def gap_codes(self) -> tuple[str, ...]:
        """What stands for a gap, one by one; ``column:cell`` for those of a column.

        >>> Files("t.csv", missing_values={"insulin": ["0"], "glucose": ["0", "-9"]}).gap_codes
        ('insulin:0', 'glucose:0', 'glucose:-9')
        """
        if not isinstance(self.missing_values, Mapping):
            return tuple(self.missing_values)
        pairs = self.missing_values.items()
        return tuple(f"{column}:{cell}" for column, cells in pairs for cell in cells)

    @property
    def paths(self) -> tuple[str | Path, ...]:
        """What was given, one by one."""
        return (self.path,) if isinstance(self.path, str | Path) else tuple(self.path)

    @property
    def name(self) -> str:
        """What people call it."""
        if len(self.paths) != 1:
            return f"{len(self.paths)} files"
        only = self.paths[0]
        if str(only) == STANDARD_INPUT:
            return "standard input"
        return str(only).rpartition("@")[2] if is_address(only) else Path(only).name

    @property
    def single(self) -> Path:
        """The one file or folder; of several, the first."""
        return Path(self.paths[0]) if self.paths else Path()


def is_address(path: str | Path) -> bool:
    """Whether it is a connection string of a database, and no file.

    >>> is_address("sqlite:///clinic.db"), is_address("clinic.db")
    (True, False)
    """
    return "://" in str(path)


def paths_of(X: Any) -> tuple[str | Path, ...]:
    """The files or folders that a table is in; nothing if it is elsewhere."""
    if isinstance(X, Files):
        return X.paths
    return (X,) if isinstance(X, str | Path) else ()
