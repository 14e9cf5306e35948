"""How much each feature varies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block


@dataclass(frozen=True, eq=False)
class Spread:
    """Squares of deviations from an origin."""

    count: Array  # (d,)
    square: Array  # (d,)

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "Spread"]:
        """The function that sums a block about ``origin`` (d,)."""
        every = np.ones(len(origin), dtype=bool)

        def summarise(block: Block) -> Spread:
            ones = block.weighed(np.ones((len(block), 1)))
            return cls(
                block.presence().back(ones)[:, 0],
                block.deviations(origin).squares(ones, every)[:, 0],
            )

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.square + other.square)

    @property
    def variance(self) -> Array:
        """Mean squares, of use only for what is observed; (d,)."""
        return self.square / np.maximum(self.count, np.finfo(float).tiny)
