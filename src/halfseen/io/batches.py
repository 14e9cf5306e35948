"""Batches of rows that an object gives one after another, as often as it is asked."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from halfseen.data.engines.batched import Piece
from halfseen.data.errors import DataError
from halfseen.io.validation import FloatTable

REITERABLE_HINT = (
    "A fit goes through the batches several times: give a list of them, or an object whose "
    "__iter__ starts anew each time."
)


R = TypeVar("R")
BatchReader = Callable[[Any], FloatTable]
"""Makes a batch of what the user's object gives."""


def is_batches(X: Any) -> bool:
    """Whether X is a collection of tables; a list of rows is one table.

    >>> is_batches([[1.0, 2.0], [3.0, 4.0]])
    False
    >>> is_batches([np.zeros((5, 2)), np.zeros((3, 2))])
    True
    """
    if isinstance(X, list | tuple):
        return bool(X) and len(getattr(X[0], "shape", ())) == 2
    return hasattr(X, "__iter__") and not hasattr(X, "shape") and not hasattr(X, "__array__")


class _FirstPass:
    """The number of rows of the first whole pass."""

    n_rows: int | None = None


@dataclass(frozen=True, eq=False)
class BatchSource:
    """The rows of all batches, in order."""

    batches: Iterable[Any]
    read: BatchReader
    names: tuple[str, ...]
    named: bool
    first_pass: _FirstPass = field(default_factory=_FirstPass)

    def pieces(self, chosen: tuple[int, ...], n_rows: int) -> Iterator[Piece]:
        total = 0
        for number, given in enumerate(self.batches):
            batch = _read(self.read, given, number)
            self._check_columns(batch, number)
            total += len(batch.values)
            for start in range(0, len(batch.values), n_rows):
                part = batch.values[start : start + n_rows]
                yield Piece(len(part), partial(_columns, part, chosen))
        self._check_rows(total)

    def _check_columns(self, batch: FloatTable, number: int) -> None:
        ours = self.names if self.named else None
        _check_same(number, batch.values.shape[1], batch.names, len(self.names), ours)

    def _check_rows(self, total: int) -> None:
        if self.first_pass.n_rows is None:
            self.first_pass.n_rows = total
        if self.first_pass.n_rows != total:
            raise DataError(
                f"The batches held {self.first_pass.n_rows} rows when they were first gone "
                f"through, and {total} later. {REITERABLE_HINT}"
            )


def _check_same(
    number: int, n: int, names: tuple[str, ...] | None, first_n: int, first: tuple[str, ...] | None
) -> None:
    if n != first_n:
        raise DataError(
            f"Batch {number} has {n} columns, but batch 0 has {first_n}. Batches of one table need "
            "the same columns."
        )
    if names != first:
        raise DataError(
            f"Batch {number} has {_first_difference(names, first)}, but batch 0 has "
            f"{_first_difference(first, names)}. Batches of one table need the same columns in "
            "the same order."
        )


class Columns(Protocol):
    """Sums over the columns of a batch."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, or their numbers where they have none."""

    @property
    def named(self) -> bool:
        """Whether the columns have names."""

    def __add__(self, other: Any) -> Any: ...


C = TypeVar("C", bound=Columns)


def sum_over_batches(batches: Iterable[Any], look: Callable[[Any], C]) -> C:
    """The sum of a function over all batches, in order."""
    total: C | None = None
    for number, given in enumerate(_anew(batches)):
        seen = _read(look, given, number)
        if total is not None:
            names = [s.names if s.named else None for s in (seen, total)]
            _check_same(number, len(seen.names), names[0], len(total.names), names[1])
        total = seen if total is None else total + seen
    if total is None:
        raise _nothing(batches)
    return total


def _anew(batches: Iterable[Any]) -> Iterator[Any]:
    iterator = iter(batches)
    if iterator is batches:
        raise DataError(
            f"A {type(batches).__name__} gives its batches only once. {REITERABLE_HINT}"
        )
    return iterator


def _nothing(batches: Iterable[Any]) -> DataError:
    return DataError(f"The {type(batches).__name__} holds no batches. Give at least one.")


def open_batches(batches: Iterable[Any], read: BatchReader) -> BatchSource:
    """The rows of a list of batches, or of an iterable that can be read again."""
    for given in _anew(batches):
        first = _read(read, given, 0)
        numbers = tuple(map(str, range(first.values.shape[1])))
        return BatchSource(batches, read, first.names or numbers, first.names is not None)
    raise _nothing(batches)


def _read(read: Callable[[Any], R], given: Any, number: int) -> R:
    if len(getattr(given, "shape", ())) != 2:
        raise DataError(
            f"Batch {number} is a {type(given).__name__}, not some rows of a table. Give arrays "
            "with two dimensions, data frames or Arrow tables."
        )
    try:
        return read(given)
    except (TypeError, ValueError) as error:
        raise DataError(f"Batch {number} cannot be read: {error}") from error


def _columns(part: np.ndarray[Any, Any], chosen: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return part if len(chosen) == part.shape[1] else part[:, chosen]


def _first_difference(names: tuple[str, ...] | None, others: tuple[str, ...] | None) -> str:
    """The first name that differs from ``others``."""
    if names is None:
        return "no names of columns"
    place = (
        0 if others is None else [a == b for a, b in zip(names, others, strict=True)].index(False)
    )
    return f"'{names[place]}' as column {place}"
