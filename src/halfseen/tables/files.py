"""A table in a file, or in all files of one kind in a folder."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from halfseen.rows.batch_size import MEMORY
from halfseen.rows.batched import Piece
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.tables.formats import FORMATS
from halfseen.tables.formats.format import Format, Header

Stamp = tuple[int, int]
"""Size and time of change of a file: another one means another content."""


@dataclass(frozen=True)
class Files:
    """A table in files, for ``fit``, where a path alone does not say enough.

    Parameters
    ----------
    path : str or Path
        A Parquet, Arrow, Feather, CSV, TSV (also gzipped: ``.csv.gz``), ``.npy`` or ``.npz`` file,
        or a folder of files of one kind. Files of a folder have the same columns, in any order.
    columns : sequence of str or int, or None, default=None
        Which columns to learn from, in this order; the others are not read. By name, or by number
        in NumPy's files. None takes all.
    memory : float, default=256
        MB that the batches of rows in flight may take together, which sets how many rows are read
        at a time. Beside it stand the sums of the fit, and what the format must hold at once: a
        page of each column of a Parquet file, a whole record batch of an Arrow file. More than the
        default is no faster.
    dask : bool, default=False
        Have the rows read and summed by Dask's workers, who must all see the path: those of the
        current ``distributed.Client`` or, without one, threads of this process. Every row group of
        a Parquet file is a partition, every file of another kind is one.

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

    path: str | Path
    columns: Sequence[str | int] | None = None
    memory: float = MEMORY
    dask: bool = False


@dataclass(frozen=True, eq=False)
class FileSource:
    """The rows of files, one file after another. Columns are found by name in each."""

    files: tuple[Path, ...]
    format: Format
    names: tuple[str, ...]
    named: bool
    stamps: tuple[Stamp, ...]

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        """All rows in order, only the ``chosen`` columns, at most ``n_rows`` rows at a time."""
        names = tuple(self.names[column] for column in chosen)
        for file, stamp in zip(self.files, self.stamps, strict=True):
            _check_unchanged(file, stamp)
            try:
                yield from self.format.pieces(file, names, n_rows)
            except DataError:
                _check_unchanged(file, stamp)  # that says more than what came of it
                raise
            _check_unchanged(file, stamp)

    def parts(self) -> "list[FilePart]":
        """Row groups of Parquet files; other files as they are."""
        return [
            FilePart(
                replace(self, files=(file,), format=part.format, stamps=(stamp,)),
                part.n_rows,
                f"{part.name} of {file.name}" if part.name else file.name,
            )
            for file, stamp in zip(self.files, self.stamps, strict=True)
            for part in self.format.parts(file)
        ]


class FilePart(NamedTuple):
    """Rows that can be read on their own."""

    source: FileSource
    n_rows: int | None  # None if only reading tells
    name: str  # for errors


def open_files(given: Files) -> FileSource:
    """The rows of a file, or of all files of one kind in a folder."""
    _check(given)
    files, format = _files_of(Path(given.path))
    stamps = tuple(_stamp(file) for file in files)
    try:
        headers = [format.header(file) for file in files]
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "Reading files needs pyarrow. Install it with: pip install 'halfseen[io]'"
        ) from missing
    names = _chosen(given.columns, headers[0])
    for file, header in zip(files, headers, strict=True):
        _check_columns(file, header, names)
        if given.columns is None:
            _check_same(file, header, files[0], names)
    return FileSource(files, format, names, headers[0].named, stamps)


def header_of_files(path: Path) -> Header:
    """The columns of a file, or of the first file in a folder."""
    files, format = _files_of(path)
    return format.header(files[0])


def _check(given: Files) -> None:
    if isinstance(given.columns, str):
        raise ValueError(
            f"The 'columns' of Files must be a list of names. Got {given.columns!r} instead: write "
            f"[{given.columns!r}]."
        )
    if not given.memory > 0:
        raise ValueError(
            f"The 'memory' of Files must be a number of MB above zero. Got {given.memory!r} "
            "instead."
        )


def _files_of(path: Path) -> tuple[tuple[Path, ...], Format]:
    """The files, sorted by name, and what they all are."""
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    listed = sorted(filter(_is_visible, path.iterdir())) if path.is_dir() else [path]
    kinds = {file: ending for file in listed if (ending := _ending(file))}
    if not kinds:
        raise DataError(f"{path} holds no file that ends in {', '.join(FORMATS)}.")
    endings = sorted(set(kinds.values()))
    if len(endings) > 1:
        raise DataError(
            f"{path} holds files of several kinds ({', '.join(endings)}). Keep those of one table "
            "in a folder of their own."
        )
    return tuple(kinds), FORMATS[endings[0]]


def _is_visible(file: Path) -> bool:
    return not file.name.startswith((".", "_"))  # as PyArrow has it


def _ending(file: Path) -> str | None:
    return next((ending for ending in FORMATS if file.name.lower().endswith(ending)), None)


def _chosen(columns: Sequence[str | int] | None, header: Header) -> tuple[str, ...]:
    if columns is None:
        return tuple(name for name in header.names if name not in header.aside)
    names = tuple(map(str, columns))
    twice = _repeated(names)
    if twice:
        raise ValueError(f"The 'columns' of Files name {_listed(twice)} twice. Name each once.")
    return names


def _check_columns(file: Path, header: Header, names: tuple[str, ...]) -> None:
    """Whether the file has the columns, each once, and they hold numbers."""
    if not names:
        raise DataError(f"{file.name} has no columns to learn from. Give a table with some.")
    known = set(header.names)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(
            f"{file.name} has no column {_listed(unknown)}. It has {_listed(header.names)}."
        )
    twice = [name for name in _repeated(header.names) if name in names]
    if twice:
        raise DataError(
            f"{file.name} has several columns named {_listed(twice)}. Give each its own name."
        )
    text = [name for name in names if name in header.text]
    if text:
        raise DataError(
            f"{_listed(text)} of {file.name} cannot be read as numbers: '{text[0]}' holds "
            f"{header.text[text[0]]}. Leave out columns of text and dates with "
            "Files(path, columns=...), or code them as numbers."
        )


def _check_same(file: Path, header: Header, first: Path, names: tuple[str, ...]) -> None:
    """Whether the file has no columns that the first one lacks."""
    known = set(names)
    new = [name for name in _chosen(None, header) if name not in known]
    if new:
        raise DataError(
            f"{file.name} has other columns than {first.name}: {_listed(new)}. Files of one table "
            "need the same columns, or a choice with Files(path, columns=...)."
        )


def _repeated(names: Sequence[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _listed(names: Sequence[str]) -> str:
    return quoted(names, range(len(names)))


def _stamp(file: Path) -> Stamp:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _check_unchanged(file: Path, stamp: Stamp) -> None:
    try:
        same = _stamp(file) == stamp
    except OSError as error:
        raise DataError(f"{file.name} is no longer there: {error}. Fit again.") from error
    if not same:
        raise DataError(f"{file.name} changed while it was being read. Fit again.")
