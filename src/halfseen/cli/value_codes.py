"""Numbers that often stand for a gap, as sums over the rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block

CODES = (-9999.0, -999.0, -99.0, -9.0, 999.0, 9999.0)


@dataclass(frozen=True, eq=False)
class CodeSums:
    """How often each code is there, and where all other values lie."""

    count: Array  # (d,)
    n_coded: Array  # (c, d)
    low: Array  # (c, d)   of the values that are not the code; +inf if there are none
    high: Array  # (c, d)

    @classmethod
    def of(cls, block: Block) -> Self:
        """The sums of one block of rows, each of which counts once."""
        values, seen = block.values, block.observed
        others = [seen & (values != code) for code in CODES]
        count = seen.sum(axis=0)
        return cls(
            count,
            np.array([count - other.sum(axis=0) for other in others]),
            np.array([np.where(o, values, np.inf).min(axis=0, initial=np.inf) for o in others]),
            np.array([np.where(o, values, -np.inf).max(axis=0, initial=-np.inf) for o in others]),
        )

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.count + other.count,
            self.n_coded + other.n_coded,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def select(self, features: Mask) -> Self:
        """The sums of only some of the features."""
        return type(self)(
            self.count[features],
            self.n_coded[:, features],
            self.low[:, features],
            self.high[:, features],
        )

    def far(self, feature: int) -> list[tuple[float, int]]:
        """Codes that are there several times, far from all other values; and how often."""
        found = []
        for code, n, low, high in zip(
            CODES, self.n_coded.T[feature], self.low.T[feature], self.high.T[feature], strict=True
        ):
            if 1 < n < self.count[feature] and _far(code, float(low), float(high)):
                found.append((code, int(n)))
        return found


def _far(code: float, low: float, high: float) -> bool:
    room = max(high - low, 1e-9)
    return (low >= 0 > code and code < low - room / 2) or code > high + room / 2
