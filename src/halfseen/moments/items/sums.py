"""Pairs of items, summed over rows: all that second moments and class statistics are read off."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.moments.items.features import Encoding
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block

Statistics = Callable[[Block], Array]
"""Statistics (n, s) of a block's rows, each of one column and zero in its gaps."""


@dataclass(frozen=True, eq=False)
class MeetingSums:
    """Sums over rows, by weight, of products of features z, presence m and statistics f."""

    products: Array  # (q, q)  Σ z z'
    presence: Array  # (j, q)  Σ m z'
    count: Array  # (j, j)     Σ m m', the rows that hold both items
    cross: Array  # (s, q)     Σ f z'
    total: Array  # (s,)       Σ f

    @classmethod
    def of(cls, encoding: Encoding, statistics: Statistics) -> Callable[[Block], "MeetingSums"]:
        """The function that sums a block."""
        q, n_items = int(encoding.width.sum()), len(encoding.width)

        def summarise(block: Block) -> MeetingSums:
            both = np.empty((q + n_items, len(block)))  # one product of it with itself has it all
            encoding.write(block, both[:q])
            both[q:] = block.observed.T
            found = np.asarray(statistics(block), dtype=float)
            if block.weights is not None:
                root = np.sqrt(block.weights)
                both *= root
                found = found * root[:, None]
                total = root @ found
            else:
                total = found.sum(axis=0)
            sums = both @ both.T
            return cls(sums[:q, :q], sums[q:, :q], sums[q:, q:], (both[:q] @ found).T, total)

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.products + other.products,
            self.presence + other.presence,
            self.count + other.count,
            self.cross + other.cross,
            self.total + other.total,
        )
