"""Something said of each row, gathered in the order of the rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import CHAINED, Sums


@dataclass(frozen=True, eq=False)
class Gathered(Sums):
    """What blocks said, each by the number of its first row: for what fits into memory."""

    parts: tuple[tuple[int, np.ndarray[Any, Any]], ...] = field(metadata=CHAINED)

    def in_order(self) -> np.ndarray[Any, Any]:
        """All of it; (n, ...)."""
        return np.concatenate([part for _, part in sorted(self.parts, key=lambda one: one[0])])


def gathered(rows: Rows, function: Callable[[Block], np.ndarray[Any, Any]]) -> Any:
    """``function(block)`` (n, ...) of all rows, by one pass, wherever they live."""
    return rows.accumulate(lambda block: Gathered(((block.start, function(block)),))).in_order()


def as_given(rows: Rows, values: Array) -> Array:
    """What is said of each row (n, ...), in the order in which rows were given."""
    place = getattr(rows, "place", None)
    return values if place is None else values[place]


def hold_something(block: Block) -> Mask:
    """Whether any cell of each row is observed; (n,)."""
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
class Together(Sums):
    """Sums side by side."""

    each: tuple[Any, ...]


def together(*summaries: Callable[[Block], Any]) -> Callable[[Block], Together]:
    """The function that sums a block in several ways."""
    return lambda block: Together(tuple(summarise(block) for summarise in summaries))
