"""The table of a file: numbers with names, and what was left aside."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from halfseen.cli.files import read_file
from halfseen.cli.numbers import NotNumbers, read_numbers
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted

LARGEST_DENSE = 50_000_000
"""A sparse table of more cells than this is not written out."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of numbers, NaN in the gaps."""

    file: str
    names: tuple[str, ...]
    values: Any  # (n, d), dense or sparse
    named: bool = True  # or known by their numbers only
    aside: tuple[str, ...] = ()  # names of columns that are no numbers
    notes: tuple[str, ...] = ()  # what was done with them, in sentences
    frame: Any = None  # everything in the file, if that has named columns

    @property
    def sparse(self) -> bool:
        """Whether only what is not zero is stored."""
        return bool(issparse(self.values))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    def select(self, names: Sequence[str], *notes: str) -> Self:
        """Some of the columns, in this order."""
        place = {name: number for number, name in enumerate(self.names)}
        columns = [place[name] for name in names]
        return replace(
            self, names=tuple(names), values=self.values[:, columns], notes=(*self.notes, *notes)
        )

    def dense(self) -> Array:
        """The values, written out."""
        if not self.sparse:
            return np.asarray(self.values)
        n_cells = self.values.shape[0] * self.values.shape[1]
        if n_cells > LARGEST_DENSE:
            raise DataError(
                f"{self.file} has {n_cells:,} cells, too many to look at each of them. Choose "
                "columns with --columns."
            )
        return np.asarray(self.values.toarray(), dtype=float)


def read_table(path: Path, missing: Sequence[str] = (), wanted: Sequence[str] = ()) -> Table:
    """The table in a file. Columns that are ``wanted`` must be numbers; others may be aside."""
    content = read_file(path, missing)
    if not hasattr(content, "column_names"):
        return _unnamed(path, content, missing)
    content = _with_names(content, path)
    numbers: dict[str, Array] = {}
    aside: dict[str, str] = {}
    notes = []
    for name in content.column_names:
        column = read_numbers(content[name], missing)
        if isinstance(column, NotNumbers):
            aside[name] = column.reason
        elif name not in wanted and _counts_rows(column.values):
            aside[name] = "it numbers the rows"
        else:
            numbers[name] = column.values
            notes += [f"'{name}': {column.note}."] if column.note else []
    refused = [name for name in wanted if name in aside]
    if refused:
        raise DataError(
            f"Column '{refused[0]}' of {path.name} cannot be read as numbers: {aside[refused[0]]}."
        )
    notes = [*_sentences(aside), *notes]
    values = np.column_stack(list(numbers.values())) if numbers else np.empty((len(content), 0))
    return Table(path.name, tuple(numbers), values, True, tuple(aside), tuple(notes), content)


def _unnamed(path: Path, content: Any, missing: Sequence[str]) -> Table:
    names = tuple(map(str, range(content.shape[1])))
    if missing and not issparse(content):
        codes = [float(text) for text in missing]
        content = np.where(np.isin(content, codes), np.nan, content)
    return Table(path.name, names, content, named=False)


def _with_names(content: Any, path: Path) -> Any:
    """A column without a name gets its number; two of one name are refused."""
    names = [
        name.strip() or f"column {number}"
        for number, name in enumerate(content.column_names, start=1)
    ]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(
            f"{path.name} has several columns named {quoted(twice, range(len(twice)))}. Give each "
            "its own name."
        )
    return content.rename_columns(names)


def _counts_rows(values: Array) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ..., as many programs write."""
    return len(values) > 2 and values[0] in (0, 1) and bool((np.diff(values) == 1).all())


def _sentences(aside: dict[str, str]) -> list[str]:
    return [f"Column '{name}' was ignored: {reason}." for name, reason in aside.items()]


def chosen(table: Table, columns: Sequence[str], drop: Sequence[str]) -> Table:
    """The columns asked for, without those that say nothing."""
    for option, names in (("--columns", columns), ("--drop", drop)):
        check_known(names, (*table.names, *table.aside), table.file, option)
    kept = [n for n in columns or table.names if n in table.names and n not in drop]
    if not kept:
        raise DataError(
            f"No column of numbers is left in {table.file}. Give a table that holds some."
        )
    picked = table.select(kept)
    return picked if picked.sparse else _varying(picked)


def check_known(names: Sequence[str], known: Sequence[str], file: str, option: str) -> None:
    """Refuse names that the table does not have."""
    unknown = [name for name in names if name not in known]
    if unknown:
        close = get_close_matches(unknown[0], known, n=1)
        hint = f" Did you mean '{close[0]}'?" if close else ""
        raise ValueError(
            f"{option} names {quoted(unknown, range(len(unknown)))}, but {file} has "
            f"{quoted(known, range(len(known)), most=12)}.{hint}"
        )


def _varying(table: Table) -> Table:
    """Without columns that are constant or empty, which are named."""
    infinite = [
        n for n, i in zip(table.names, np.isinf(table.values).any(axis=0), strict=True) if i
    ]
    if infinite:
        raise DataError(
            f"Infinite values in {quoted(infinite, range(len(infinite)))}. Replace them by "
            "numbers, or mark them as missing with --missing-values inf,-inf."
        )
    kept, notes = [], []
    for name, column in zip(table.names, table.values.T, strict=True):
        seen = column[~np.isnan(column)]
        if not len(seen):
            notes.append(f"Column '{name}' was ignored: it has no values.")
        elif seen.min() == seen.max():
            notes.append(f"Column '{name}' was ignored: it is {seen[0]:g} wherever it is known.")
        else:
            kept.append(name)
    if not kept:
        raise DataError(
            f"No column of {table.file} varies, so there is nothing to learn. Give a table with "
            "columns that do."
        )
    return table.select(kept, *notes)
