"""Gaps in columns of words, filled with words in the type that the column has."""

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from halfseen.rows.arrays import Mask
from halfseen.tables.cells.words import FALSE_AND_TRUE, is_gap, truth_of, word_of


def filled_words(
    column: "nw.Series[Any]", gaps: Mask, words: Sequence[str | None], truths: bool
) -> "nw.Series[Any]":
    """A column with its gaps filled by words (n,), where there are any; the rest is not touched.

    ``truths`` says that the words are those for false and true, which the column may write in
    another way.
    """
    filled = np.flatnonzero(gaps & np.array([word is not None for word in words], dtype=bool))
    if not len(filled) or (column.dtype == nw.Boolean and not truths):
        return column  # there is no room for other words among truths
    if column.implementation.is_pyarrow():
        fill = _arrow
    else:
        fill = _polars if column.implementation.is_polars() else _pandas
    own = _own_cells(_known(column), [words[place] for place in filled.tolist()], truths)
    if column.dtype == nw.Boolean:
        own = [cell in ("True", True) for cell in own]
    made: nw.Series[Any] = nw.from_native(fill(column, filled, own), series_only=True)
    return made.alias(column.name)


def filled_cells(
    cells: Sequence[Any], gaps: Mask, words: Sequence[str | None], truths: bool
) -> list[Any]:
    """The same of cells that may be any objects."""
    own = _own_cells(cells, words, truths)
    return [
        new if gap and new is not None else cell
        for cell, gap, new in zip(cells, gaps, own, strict=True)
    ]


def _own_cells(known: Iterable[Any], words: Iterable[str | None], truths: bool) -> list[Any]:
    """Words as the cells that a column has for them: truths, numbers, or words written its way."""
    seen = {str(word_of(cell, frozenset())): cell for cell in known if not is_gap(cell)}
    cells = list(seen.values())
    if truths:
        seen = {truth_of(word): cell for word, cell in seen.items()} | seen
        if cells and all(isinstance(cell, bool | np.bool_) for cell in cells):
            seen |= {word: word == "True" for word in FALSE_AND_TRUE}
    if cells and not truths and all(isinstance(cell, Real) for cell in cells):
        return [None if word is None else seen.get(word, _as_number(word)) for word in words]
    return [None if word is None else seen.get(word, word) for word in words]


def _as_number(word: str) -> Any:
    """A word beside cells that are numbers: the number that it is written for, if there is one."""
    try:
        return float(word)
    except ValueError:
        return word


def _known(column: "nw.Series[Any]") -> list[Any]:
    """The different cells, with categories that no cell has."""
    found = column.unique().to_list() if column.dtype != nw.Object else column.to_list()
    if column.implementation.is_pandas_like() and column.dtype in (nw.Categorical, nw.Enum):
        found += list(column.to_native().dtype.categories)
    return found


def _pandas(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> Any:
    native = column.to_native().copy()
    if column.dtype in (nw.Categorical, nw.Enum):
        known = set(native.dtype.categories)
        native = native.cat.add_categories([c for c in dict.fromkeys(cells) if c not in known])
    elif column.dtype not in (nw.String, nw.Object, nw.Boolean):
        native = native.astype(object)
    native.iloc[places] = cells
    return native


def _with(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> list[Any]:
    every = column.to_list()
    for place, cell in zip(places, cells, strict=True):
        every[place] = cell
    return every


def _polars(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> Any:
    polars: Any = column.implementation.to_native_namespace()
    native, dtype = column.to_native(), column.to_native().dtype
    every = _with(column, places, cells)
    if column.dtype == nw.Enum:
        dtype = polars.Enum(list(dict.fromkeys([*dtype.categories.to_list(), *cells])))
    elif column.dtype not in (nw.String, nw.Categorical, nw.Boolean):
        dtype = None
    return polars.Series(native.name, every, dtype=dtype, strict=False)


def _arrow(column: "nw.Series[Any]", places: Any, cells: list[Any]) -> Any:
    import pyarrow as pa

    kind, every = column.to_native().type, _with(column, places, cells)
    if pa.types.is_dictionary(kind):
        chunks = column.to_native().chunks
        known = [word for chunk in chunks for word in chunk.dictionary.to_pylist()]
        words = {word: place for place, word in enumerate(dict.fromkeys([*known, *cells]))}
        codes = pa.array([None if w is None else words[w] for w in every], kind.index_type)
        values = pa.array(list(words), kind.value_type)
        filled = pa.DictionaryArray.from_arrays(codes, values, ordered=kind.ordered)
    elif column.dtype in (nw.String, nw.Boolean):
        filled = pa.array(every, kind)
    else:
        filled = pa.array(every)
    return pa.chunked_array([filled])
