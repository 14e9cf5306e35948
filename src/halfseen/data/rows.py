"""The one data protocol: everything that touches data is a sum over blocks of rows.

A *summarise* function turns one :class:`~halfseen.data.block.Block` into ``Sums``; sums add with
``+`` and the sums of a block of no rows are neutral. An engine is anything that holds rows and has
the one verb ``accumulate(summarise)``, so that what runs on an array runs on files and on a cluster
unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, Self, TypeVar

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block
from halfseen.data.sums import Addable

__all__ = ["Block", "Carried", "Rows", "S", "T"]


S = TypeVar("S", bound=Addable)
T = TypeVar("T")


class Carried(Protocol[T]):
    """Rows with something kept beside each block, where the block is."""

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""


class Rows(Protocol):
    """A table with gaps, wherever its rows live."""

    @property
    def sparse(self) -> bool:
        """Whether blocks hold only what is not zero."""

    @property
    def sequenced(self) -> bool:
        """Whether rows follow each other, so that blocks say which sequence each is of."""

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is: for sums too large to be moved."""

    def carrying(self, begin: Callable[[Block], T]) -> Carried[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""

    def recentred(self, origin: Array) -> "Rows":
        """The same rows measured from ``origin`` (d,), for work that goes over them many times."""


class Summed(Protocol):
    """Rows that can be summed over."""

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""


@dataclass(frozen=True, eq=False)
class CarriedHere(Generic[T]):
    """Kept in this process, by where blocks start."""

    rows: Summed
    begin: Callable[[Block], T]
    kept: dict[int, T] = field(default_factory=dict)

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""

        def summarise(block: Block) -> S:
            before = self.kept[block.start] if block.start in self.kept else self.begin(block)
            sums, self.kept[block.start] = step(block, before)
            return sums

        return self.rows.accumulate(summarise)
