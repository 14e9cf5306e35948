"""Files of all kinds, read whole: what is in them, before anything is made of it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from halfseen.rows.errors import DataError
from halfseen.tables.sparse_file import MARKETS, is_sparse_file, read_sparse_file

GAPS = ("None", "<NA>", "NAN", "na")
"""What stands for a gap in CSV files beside what PyArrow knows: "", NA, N/A, NaN, NULL, ..."""


def read_file(path: Path, missing: Sequence[str]) -> Any:
    """An Arrow table, a dense array or a sparse matrix, as the file has it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give one file.")
    if is_sparse_file(path):
        return read_sparse_file(path)
    ending = next((end for end in READERS if path.name.lower().endswith(end)), None)
    if ending is None:
        known = ", ".join([*READERS, *MARKETS])
        raise ValueError(f"{path.name} is of no kind that is known. Files end in {known}.")
    try:
        return READERS[ending](path, missing)
    except ModuleNotFoundError as missing_module:
        raise ModuleNotFoundError(
            f"Reading {ending} files needs {missing_module.name}, which is not installed. Install "
            "it with: pip install 'halfseen[io]'"
        ) from missing_module
    except (DataError, MemoryError):
        raise
    except Exception as error:  # every library has errors of its own for what is no such file
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the file cannot be opened; PyArrow's word for damage has no number
        first = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise DataError(
            f"{path.name} cannot be read as its name says: {first}. Check that the file is whole, "
            "and that its ending is right."
        ) from error


def _csv(path: Path, missing: Sequence[str]) -> Any:
    from pyarrow import ArrowInvalid, csv, string

    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty. Give a table with a line of column names.")
    with csv_head(path) as text:
        head = text.readline()
    convert = csv.ConvertOptions(strings_can_be_null=True)
    convert.null_values = [*convert.null_values, *GAPS, *missing]
    parse = csv.ParseOptions(delimiter=delimiter_of(head), newlines_in_values=True)
    try:
        try:
            return csv.read_csv(path, parse_options=parse, convert_options=convert)
        except ArrowInvalid:  # a column begins with numbers and goes on with something else
            names = csv.open_csv(path, parse_options=parse).schema.names
            convert.column_types = dict.fromkeys(names, string())
            return csv.read_csv(path, parse_options=parse, convert_options=convert)
    except ArrowInvalid as error:
        words = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{path.name} cannot be read as a table: {words}. Check that every line has as many "
            f"cells as the first, separated by {parse.delimiter!r}."
        ) from error


def csv_head(path: Path) -> Any:
    """The text of a file that may be gzipped."""
    import gzip

    opener = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", errors="replace")


def delimiter_of(head: str) -> str:
    """The one that the line of names holds most of; a comma if none.

    >>> delimiter_of("age;pulse;lactate, venous")
    ';'
    """
    return max(",;\t|", key=head.count)


def _parquet(path: Path, missing: Sequence[str]) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path)


def _feather(path: Path, missing: Sequence[str]) -> Any:
    import pyarrow as pa

    with pa.memory_map(str(path)) as file:
        try:
            return pa.ipc.open_file(file).read_all()
        except pa.ArrowInvalid:
            file.seek(0)
            return pa.ipc.open_stream(file).read_all()


def _npy(path: Path, missing: Sequence[str]) -> Any:
    return _two_sided(np.load(path, allow_pickle=False), path)


def _npz(path: Path, missing: Sequence[str]) -> Any:
    with np.load(path, allow_pickle=False) as archive:
        if len(archive.files) != 1:
            raise DataError(
                f"{path.name} holds {len(archive.files)} arrays. Save the table alone, with "
                "numpy.savez(path, table)."
            )
        return _two_sided(archive[archive.files[0]], path)


def _two_sided(array: Any, path: Path) -> Any:
    if array.ndim != 2 or array.dtype.kind not in "iufb":
        raise DataError(
            f"{path.name} holds an array of shape {array.shape} and type {array.dtype}. A table "
            "has two sides, rows and columns, and holds numbers."
        )
    return array.astype(float)


READERS: dict[str, Callable[[Path, Sequence[str]], Any]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".csv.gz": _csv,
    ".tsv.gz": _csv,
    ".parquet": _parquet,
    ".feather": _feather,
    ".arrow": _feather,
    ".npy": _npy,
    ".npz": _npz,
}
