"""Every container and type of number that the door takes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
from scipy import sparse

from halfseen.data.arrays import Array

Given = tuple[Any, Array]
"""What is handed over, and the numbers that are in it."""
NAMES = ("age", "pulse", "a b", "größe", "x", "y")


def named(X: np.ndarray[Any, Any]) -> list[str]:
    """Names for the columns of a table."""
    return [f"{NAMES[i % len(NAMES)]}{i // len(NAMES) or ''}" for i in range(X.shape[1])]


def names_in(given: Any, X: np.ndarray[Any, Any]) -> list[str]:
    """What the columns of a table are called: by number if they have no names."""
    part = given[0] if isinstance(given, list) and given else given
    framed = isinstance(part, pd.DataFrame | pl.DataFrame | pa.Table)
    return named(X) if framed else list(map(str, range(X.shape[1])))


def _as_type(X: Array, dtype: Any) -> Given:
    """Another type of number, in which gaps are known, or left out where it has none."""
    with np.errstate(all="ignore"):
        kind = np.dtype(dtype)
        whole = np.nan_to_num(X, nan=0.0, posinf=0.0, neginf=0.0) if kind.kind in "iub" else X
        if kind.kind in "iu":
            whole = np.clip(whole, np.iinfo(kind).min / 2, np.iinfo(kind).max / 2)
        given = whole.astype(kind)
    return given, given.astype(float)


def _masked(X: Array) -> Given:
    return np.ma.masked_array(np.where(np.isnan(X), -999.0, X), mask=np.isnan(X)), X


def _pandas(X: Array) -> Given:
    return pd.DataFrame(X, columns=named(X), index=np.arange(len(X))[::-1]), X


def _pandas_nullable(X: Array) -> Given:
    columns = {
        name: pd.array([None if np.isnan(v) else v for v in x], dtype="Float64")
        for name, x in zip(named(X), X.T, strict=True)
    }
    return pd.DataFrame(columns, index=range(len(X))), X


def _polars(X: Array) -> Given:
    columns = dict(zip(named(X), X.T, strict=True))
    return pl.DataFrame({n: pl.Series(n, x).fill_nan(None) for n, x in columns.items()}), X


def _arrow(X: Array) -> Given:
    arrays = [pa.array(np.ascontiguousarray(x), from_pandas=True) for x in X.T]
    return pa.table(arrays, names=named(X)), X


def _sparse(X: Array, kind: str) -> Given:
    whole = np.nan_to_num(X, nan=0.0, posinf=1.0, neginf=1.0)
    return getattr(sparse, f"{kind}_array")(whole), whole


def _batches(X: Array) -> Given:
    return np.array_split(X, 3), X


def _nested(X: Array) -> Given:
    return [[None if np.isnan(v) else float(v) for v in row] for row in X], X


def _object(X: Array) -> Given:
    given = X.astype(object)
    given[np.isnan(X)] = None
    return given, X


CONTAINERS: dict[str, Callable[[Array], Given]] = {
    "array": lambda X: (X, X),
    "fortran": lambda X: (np.asfortranarray(X), X),
    "strided": lambda X: (np.repeat(X, 2, axis=0)[::2], X),
    "read only": lambda X: (np.frombuffer(X.tobytes()).reshape(X.shape), X),
    **{
        dtype: partial(_as_type, dtype=dtype)
        for dtype in ("f2", "f4", ">f8", "<f8", "g", "i1", "u1", "i4", "i8", "u8", "?", ">i4")
    },
    "object": _object,
    "masked": _masked,
    "list": lambda X: (X.tolist(), X),
    "list with None": _nested,
    "tuples": lambda X: (tuple(map(tuple, X.tolist())), X),
    "pandas": _pandas,
    "pandas nullable": _pandas_nullable,
    "polars": _polars,
    "arrow": _arrow,
    **{kind: partial(_sparse, kind=kind) for kind in ("csr", "csc", "coo", "lil", "bsr")},
    "batches": _batches,
}


def draw(rng: np.random.Generator, X: Array) -> Given:
    """A plain array mostly, for speed, or any of the others."""
    if rng.random() < 0.7:
        return X, X
    return CONTAINERS[list(CONTAINERS)[rng.integers(len(CONTAINERS))]](X)


def taken(given: Any, order: np.ndarray[Any, Any]) -> Any:
    """Rows of a table in another order, in the same container; None if it has no way to do so."""
    if isinstance(given, pd.DataFrame):
        return given.iloc[order]
    if isinstance(given, pa.Table):
        return given.take(order)
    if isinstance(given, np.ndarray | pl.DataFrame | sparse.csr_array):
        return given[order]
    if isinstance(given, list | tuple) and not hasattr(given[0], "shape"):
        return type(given)(given[place] for place in order)
    return None


def as_floats(table: Any) -> Array:
    """The numbers of a table that came back, whatever it came in."""
    if isinstance(table, list) and table and isinstance(table[0], np.ndarray | pd.DataFrame):
        return np.concatenate([as_floats(part) for part in table])
    if isinstance(table, pa.Table):
        table = table.to_pandas()
    if isinstance(table, pd.DataFrame):
        return np.asarray(table.to_numpy(dtype=float, na_value=np.nan))
    if isinstance(table, pl.DataFrame):
        return np.asarray(table.cast(pl.Float64).to_numpy())
    if isinstance(table, np.ndarray) and table.dtype.kind == "O":
        table = np.where(pd.isna(table), np.nan, table)
    return np.asarray(table, dtype=float)
