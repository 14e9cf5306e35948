"""Second pass over the rows: joint counts and products of pairs of features."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from halfseen.moments.gaps.joint_counts import pair_counts
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block


@dataclass(frozen=True, eq=False)
class PairSums:
    """Joint counts, and sums of products of deviations from a fixed origin."""

    count: Array  # (d, d)  rows in which features i and j are both observed, by weight
    total: Array  # (d, d)  sum over those rows of (x - origin)_i (x - origin)_j

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "PairSums"]:
        """The function that sums a block about ``origin`` (d,)."""

        def summarise(block: Block) -> PairSums:
            deviations = block.about(origin)
            return cls(pair_counts(block), deviations.T @ block.weighed(deviations))

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total)
