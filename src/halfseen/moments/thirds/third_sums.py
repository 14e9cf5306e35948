"""Third pass over the rows, explicit: joint counts and products of triples of features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.moments.gaps.joint_counts import triple_counts
from halfseen.moments.thirds.packed import third_products
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block


@dataclass(frozen=True, eq=False)
class ThirdSums:
    """Joint counts, and sums of triple products of deviations from a fixed origin.

    Both are symmetric and packed (:mod:`halfseen.moments.thirds.packed`), so that the two together
    take a third of one d × d × d array.
    """

    count: Array  # (d (d+1) (d+2) / 6,)  rows in which i, j and k are all observed, by weight
    total: Array  # the same shape: sum over those rows of the triple product

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "ThirdSums"]:
        """The function that sums a block about ``origin`` (d,)."""

        def summarise(block: Block) -> ThirdSums:
            products = third_products(block.about(origin), block.weights)
            return cls(triple_counts(block), products)

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total)

    def __iadd__(self, other: Self) -> Self:
        np.add(self.count, other.count, out=self.count)
        np.add(self.total, other.total, out=self.total)
        return self
