"""What is kept beside the rows from one pass over them to the next.

Most passes need nothing but the rows and the parameters. A sampler that goes on from where it was
does need its state, which is as large as the table: it stays where the rows are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from halfseen.rows.rows import Block, S

T = TypeVar("T")


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
