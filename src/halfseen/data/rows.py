"""Rows: every computation on data is a sum over blocks of rows.

A *summarise* function turns one :class:`~halfseen.data.block.Block` into sums; sums add with ``+``
and those of no rows are neutral. An engine holds rows and has the one verb
``accumulate(summarise)``, so that what runs on an array runs on files and on a cluster unchanged.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block
from halfseen.data.sequences import Numbers, Sequences
from halfseen.data.sums import CHAINED, Addable, Sums

__all__ = ["Block", "Carried", "Rows", "S", "T"]

S = TypeVar("S", bound=Addable)
T = TypeVar("T")


class Carried(Protocol[T]):
    """Rows with a value kept beside each block."""

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over blocks of ``step``, which also updates the kept values."""


class Rows(ABC):
    """A table with gaps, wherever its rows are stored.

    An engine has ``names``, ``accumulate`` and ``select``. All else has a default, which an engine
    replaces where it can do better.
    """

    if TYPE_CHECKING:  # a dataclass would take the property for the default of its field

        @property
        def names(self) -> tuple[str, ...]:
            """The features' names, in order."""

    @property
    def sparse(self) -> bool:
        """Whether blocks store only non-zero cells."""
        return False

    @property
    def sequences(self) -> Sequences | None:
        """The ends of sequences, if rows follow each other."""
        return None

    @property
    def sequenced(self) -> bool:
        """Whether rows follow each other."""
        return self.sequences is not None

    @property
    def place(self) -> Numbers | None:
        """The position of each given row among these; None if the order is the same."""
        return None if self.sequences is None else self.sequences.place

    @abstractmethod
    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""

    @abstractmethod
    def select(self, features: Mask) -> "Rows":
        """The same rows with only some of the features."""

    def in_sequences(self, sequences: Sequences) -> Self:
        """The same rows as sequences."""
        return replace(self, sequences=sequences)  # type: ignore[type-var]

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of the sum, computed where the sum is, for sums too large to send."""
        return finish(self.accumulate(summarise))

    def carrying(self, begin: Callable[[Block], T]) -> Carried[T]:
        """The same rows with ``begin(block)`` kept beside each block and updated by passes."""
        return CarriedHere(self, begin)

    def recentred(self, origin: Array) -> "Rows":
        """The same rows measured from ``origin`` (d,), for many passes."""
        return self.map(Recentring(origin), acts_on="columns", dense=True)

    def map(
        self,
        change: Callable[[Block], Block],
        *,
        names: Sequence[str] | None = None,
        acts_on: Literal["blocks", "columns", "rows"] = "blocks",
        dense: bool = False,
    ) -> "MappedRows":
        """The same rows with ``change(block)`` in place of each block.

        A change that ``acts_on`` "columns" treats each by itself and has a method
        ``select(features)``, which says what it is where only some are left. One that acts on
        "rows" leaves rows out or weighs them, whatever their values. Any other sees all features,
        also where only some are selected afterwards. ``names`` are the features' if they change,
        and ``dense`` says that zeros of sparse rows do not stay zeros.
        """
        names = self.names if names is None else tuple(names)
        return MappedRows(self, change, names, acts_on, self.sparse and not dense)


@dataclass(frozen=True, eq=False)
class Recentring:
    """Measures blocks from an origin."""

    origin: Array  # (d,)

    def __call__(self, block: Block) -> Block:
        return block.recentred(self.origin)

    def select(self, features: Mask) -> "Recentring":
        return Recentring(self.origin[features])


@dataclass(frozen=True, eq=False)
class MappedRows(Rows):
    """The rows that :meth:`Rows.map` returns."""

    rows: Rows
    change: Callable[[Block], Block]
    names: tuple[str, ...]
    acts_on: Literal["blocks", "columns", "rows"]
    sparse: bool = False

    @property
    def sequences(self) -> Sequences | None:
        return self.rows.sequences

    @property
    def sequenced(self) -> bool:
        return self.rows.sequenced

    def in_sequences(self, sequences: Sequences) -> Self:
        return replace(self, rows=self.rows.in_sequences(sequences))

    def select(self, features: Mask) -> Rows:
        names = tuple(compress(self.names, features.tolist()))
        if self.acts_on == "blocks":
            return self.map(lambda block: block.select(features), names=names)
        change: Any = self.change
        narrowed = change if self.acts_on == "rows" else change.select(features)
        return replace(self, rows=self.rows.select(features), change=narrowed, names=names)

    def recentred(self, origin: Array) -> Rows:
        if self.acts_on == "rows":  # so that rows in memory are made ready once
            return replace(self, rows=self.rows.recentred(origin), sparse=False)
        return super().recentred(origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        return self.rows.accumulate(_after(self.change, summarise))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        return self.rows.condensed(_after(self.change, summarise), finish)

    def carrying(self, begin: Callable[[Block], T]) -> "CarriedMapped[T]":
        return CarriedMapped(self.rows.carrying(_after(self.change, begin)), self.change)


def _after(
    change: Callable[[Block], Block], function: Callable[[Block], T]
) -> Callable[[Block], T]:
    """Compose a function with a change of blocks; it holds no rows, because workers receive it."""
    return lambda block: function(change(block))


@dataclass(frozen=True, eq=False)
class CarriedMapped(Generic[T]):
    """Kept values of rows that are seen through a change of blocks."""

    carried: Carried[T]
    change: Callable[[Block], Block]

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        change = self.change
        return self.carried.accumulate(lambda block, kept: step(change(block), kept))


@dataclass(eq=False)
class CarriedHere(Generic[T]):
    """Values kept in this process, by the first row of each block."""

    rows: Rows
    begin: Callable[[Block], T]
    kept: dict[int, T] = field(default_factory=dict)

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        def summarise(block: Block) -> S:
            before = self.kept[block.start] if block.start in self.kept else self.begin(block)
            sums, self.kept[block.start] = step(block, before)
            return sums

        return self.rows.accumulate(summarise)


# Something said of each row, in the order of the rows: for what fits into memory.


@dataclass(frozen=True, eq=False)
class Gathered(Sums):
    """Values of blocks, by the number of their first row."""

    parts: tuple[tuple[int, np.ndarray[Any, Any]], ...] = field(metadata=CHAINED)

    def in_order(self) -> np.ndarray[Any, Any]:
        """All values in the order of the rows; (n, ...)."""
        return np.concatenate([part for _, part in sorted(self.parts, key=lambda one: one[0])])


def gathered(rows: Rows, function: Callable[[Block], np.ndarray[Any, Any]]) -> Any:
    """``function(block)`` (n, ...) for all rows, in one pass."""
    return rows.accumulate(lambda block: Gathered(((block.start, function(block)),))).in_order()


def in_given_order(rows: Rows, values: Array) -> Array:
    """Values of rows (n, ...), in the order in which rows were given."""
    return values if rows.place is None else values[rows.place]


def any_observed(block: Block) -> Mask:
    """Whether each row has an observed cell; (n,)."""
    return np.asarray(block.masks().any(axis=1))


def with_gaps(block: Block) -> Array:
    """The values of a block, NaN where they are not observed; (n, d)."""
    table: Array = np.where(block.observed, block.values, np.nan)
    return table


def whole_table(rows: Rows) -> Array:
    """All rows in one array (n, d), in which NaN marks the gaps."""
    table: Array = gathered(rows, with_gaps)
    return table


@dataclass(frozen=True, eq=False)
class SideBySide(Sums):
    """Sums side by side."""

    each: tuple[Any, ...]


def side_by_side(*summaries: Callable[[Block], Any]) -> Callable[[Block], SideBySide]:
    """The function that sums a block in several ways."""
    return lambda block: SideBySide(tuple(summarise(block) for summarise in summaries))
