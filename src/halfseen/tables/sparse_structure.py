"""Whether the arrays of a sparse matrix fit each other, seen before compiled code relies on it.

SciPy takes them at their word: a place beyond the last column is written to all the same, and a
start beyond the last entry is read from, which ends the process.
"""

from typing import Any

import numpy as np

from halfseen.rows.errors import DataError
from halfseen.tables.as_given import NO_COMPLEX
from halfseen.tables.width import check_size

NAME = "The sparse matrix"
COMPRESSED = {"csr": ("row", 0), "csc": ("column", 1), "bsr": ("row", 0)}
"""What the starts are of, and along which axis that is."""


def sound(matrix: Any, name: str = NAME) -> Any:
    """The matrix, in the machine's byte order and without spare room; refused if it is broken."""
    if len(matrix.shape) != 2:
        raise DataError(f"{name} has shape {matrix.shape}. Give a table, with rows and columns.")
    check_size(name, *matrix.shape)
    if matrix.format in COMPRESSED:
        return _sound_compressed(matrix, name)
    if matrix.format == "coo":
        for axis, places in enumerate((matrix.row, matrix.col)):
            _check_places(name, places, matrix.shape[axis], ("row", "column")[axis])
        if not len(matrix.row) == len(matrix.col) == len(matrix.data):
            raise _broken(name, "it has not as many rows, columns and values")
    _check_numbers(name, matrix.dtype)
    return matrix


def canonical(matrix: Any) -> Any:
    """Compressed rows with every entry once, as numbers that can be a gap; nobody's own copy."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # not the user's own
        matrix.sum_duplicates()
    if matrix.dtype.kind == "b" or matrix.dtype.itemsize > 8:
        matrix = matrix.astype(float)
    return matrix


def _sound_compressed(matrix: Any, name: str) -> Any:
    line, axis = COMPRESSED[matrix.format]
    sides = [
        n // b for n, b in zip(matrix.shape, getattr(matrix, "blocksize", (1, 1)), strict=True)
    ]
    starts, places = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    values = np.asarray(matrix.data)
    if starts.shape != (sides[axis] + 1,) or starts.dtype.kind not in "iu":
        raise _broken(name, f"its indptr is not one whole number a {line} and one more")
    if places.ndim != 1 or len(places) != len(values):
        raise _broken(name, f"it has {len(places):,} indices and {len(values):,} values")
    falls = np.flatnonzero(starts[1:] < starts[:-1])
    if starts[0] != 0 or len(falls):
        where = f"falls at {line} {falls[0]}" if len(falls) else f"begins with {starts[0]}"
        raise _broken(name, f"its indptr {where}, and should rise from 0")
    end = int(starts[-1])
    if end > len(places):
        raise _broken(name, f"its indptr ends with {end:,}, but it has {len(places):,} indices")
    other = ("column", "row")[axis]
    _check_places(name, places[:end], sides[1 - axis], other)
    _check_numbers(name, values.dtype)
    native = all(array.dtype.isnative for array in (starts, places, values))
    if native and end == len(places):
        return matrix
    arrays = (_native(values[:end]), _native(places[:end]), _native(starts))
    return type(matrix)(arrays, shape=matrix.shape)


def _check_places(name: str, places: Any, n: int, what: str) -> None:
    places = np.asarray(places)
    if places.dtype.kind not in "iu":
        raise _broken(name, f"its {what} numbers are {places.dtype} and not whole numbers")
    if not len(places):
        return
    low, high = int(places.min()), int(places.max())
    if low < 0 or high >= n:
        wrong = low if low < 0 else high
        raise _broken(name, f"it has an entry in {what} {wrong:,}, and {n:,} {what}s")


def _check_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise DataError(f"{NO_COMPLEX} {name} holds {dtype}. Give the parts of each as columns.")
    if dtype.kind not in "biuf":
        raise DataError(f"{name} holds {dtype}, not numbers. Store counts or measurements in it.")


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _broken(name: str, why: str) -> DataError:
    return DataError(f"{name} is broken: {why}. Make it again from what it was made of.")
