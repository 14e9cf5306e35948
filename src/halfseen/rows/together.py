"""Several sums in one pass over the rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from halfseen.rows.rows import Block


@dataclass(frozen=True, eq=False)
class Together:
    """Sums side by side."""

    each: tuple[Any, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.each, other.each, strict=True)))


def together(*summaries: Callable[[Block], Any]) -> Callable[[Block], Together]:
    """The function that sums a block in several ways."""
    return lambda block: Together(tuple(summarise(block) for summarise in summaries))
