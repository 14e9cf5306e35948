"""Numbers that often stand for a gap, as sums over the rows."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.counts import RepeatedCells
from halfseen.data.rows import Block

CODES = (
    *(-9999.0, -999.0, -99.0, -98.0, -97.0, -88.0, -77.0, -9.0, -8.0, -7.0),
    *(77.0, 88.0, 97.0, 98.0, 99.0, 777.0, 888.0, 997.0, 998.0, 999.0, 8888.0, 9999.0, 99999.0),
)
FAR = 0.5
"""A code is beyond all other values by at least so much of their range."""


class Coded(NamedTuple):
    """A number that seems to stand for a gap."""

    code: float
    n_rows: dict[int, int]  # by feature
    elsewhere: list[int]  # features in which it may be a value like others


@dataclass(frozen=True, eq=False)
class CodeSums:
    """How often each code is there, and where all values lie that are no codes."""

    n_coded: Array  # (c, d)
    low: Array  # (d,)   +inf if there are no such values
    high: Array  # (d,)  -inf

    @classmethod
    def of(cls, block: Block) -> Self:
        """The sums of one block of rows, each of which counts once."""
        cells = block.repeated_cells()
        if cells is not None:
            return cls._of_repeated(cells, block.n_features)
        values, seen = block.values, block.observed
        others = seen & ~np.isin(values, CODES)
        return cls(
            np.array([(seen & (values == code)).sum(axis=0) for code in CODES]),
            np.where(others, values, np.inf).min(axis=0, initial=np.inf),
            np.where(others, values, -np.inf).max(axis=0, initial=-np.inf),
        )

    @classmethod
    def _of_repeated(cls, cells: RepeatedCells, d: int) -> Self:
        """The same of cells, alike ones together."""
        coded = [cells.summed((cells.value == code).astype(float), d) for code in CODES]
        others = cells.where(~np.isin(cells.value, CODES))
        low, high = others.lowest(others.value, d), -others.lowest(-others.value, d)
        return cls(np.array(coded), low, high)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_coded + other.n_coded,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def select(self, features: Mask) -> Self:
        """The sums of only some of the features."""
        return type(self)(self.n_coded[:, features], self.low[features], self.high[features])

    def far(self) -> list[Coded]:
        """Codes that are several times in some feature, far from all values that are no codes."""
        room = np.maximum(self.high - self.low, 1e-9)
        found = []
        for code, n_coded in zip(CODES, self.n_coded, strict=True):
            below = (self.low >= 0) & (code < np.minimum(self.low - FAR * room, 0))
            far = (below | (code > self.high + FAR * room)) & (self.low < self.high)
            here = np.flatnonzero(far & (n_coded > 1))
            if len(here):
                elsewhere = [int(i) for i in np.flatnonzero(~far & (n_coded > 0))]
                found.append(Coded(code, {int(i): int(n_coded[i]) for i in here}, elsewhere))
        return found
