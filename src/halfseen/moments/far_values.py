"""Values that stand far from all others of their feature: typing errors, as a rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from halfseen.moments.recorded import Recorded, recorded
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Block, Rows

FAR = 1.5
"""Times as far from the middle as the fences."""
APART = 2.0
"""Times as far from the middle as the furthest of the others."""


@dataclass(frozen=True, eq=False)
class FarSums:
    """Of each feature, by how far values are from its middle as a share of the way to a fence.

    Below the middle and above it, (2, d) each.
    """

    inside: Array  # the furthest of those that are not far; 0 if there is none
    count: Array  # of those that are
    nearest: Array  # of those; +inf if there is none
    furthest: Array  # 0 if there is none

    @classmethod
    def beyond(cls, seen: Recorded) -> Callable[[Block], "FarSums"]:
        """The function that goes over a block."""
        sides = np.stack([seen.middle - seen.low, seen.high - seen.middle])

        def summarise(block: Block) -> FarSums:
            away = block.values - seen.middle
            way = np.stack([-away / sides[0], away / sides[1]])
            way = np.where(block.observed & (way > 0), way, 0.0)
            far = way > FAR
            return cls(
                np.where(far, 0.0, way).max(axis=1, initial=0.0),
                np.stack([block.weighed(side.astype(float)).sum(axis=0) for side in far]),
                np.where(far, way, np.inf).min(axis=1, initial=np.inf),
                np.where(far, way, 0.0).max(axis=1, initial=0.0),
            )

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(
            np.maximum(self.inside, other.inside),
            self.count + other.count,
            np.minimum(self.nearest, other.nearest),
            np.maximum(self.furthest, other.furthest),
        )


class FarValues(NamedTuple):
    """Values of one feature that stand apart on one side."""

    feature: int
    n_cells: int
    furthest: float  # of them
    others: float  # the furthest value that is not one of them


def far_values(rows: Rows, sums: FeatureSums) -> list[FarValues]:
    """What stands apart in ``rows``, all of whose features vary; two passes."""
    seen = recorded(rows, sums)
    found = rows.accumulate(FarSums.beyond(seen))
    apart = (found.count > 0) & (found.nearest > APART * np.maximum(found.inside, 1.0 / FAR))
    ways = np.stack([seen.low - seen.middle, seen.high - seen.middle])
    return [
        FarValues(
            int(i),
            round(float(found.count[side, i])),
            float(seen.middle[i] + found.furthest[side, i] * ways[side, i]),
            float(seen.middle[i] + found.inside[side, i] * ways[side, i]),
        )
        for side, i in np.argwhere(apart)
    ]
