"""States told by the rows before and after alone, of sequences that need not be stationary.

Rows 1, 2 and 3 of a window are independent given the state of the middle one. States need not be as
common at one place as at another, so each place is centred at its own mean. With ζ_k the place of
state k, of mean zero and covariance one over middle rows,

    C12 = B1 B2',  C13 = B1 B3',  C23 = B2 B3',  hence  B2 B2' = C21 C31⁻¹ C32,

and B1, B3 have the columns' space of B2: B1 = B2 T12, B3 = B2 T23'.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np

from halfseen.moments.items.completion import Completion
from halfseen.moments.items.features import Encoding, Ints
from halfseen.moments.items.lagged import Neighbour, Windows, between, told_by
from halfseen.moments.items.reading import Equations
from halfseen.moments.items.start import Second
from halfseen.moments.items.sums import MeetingSums, Statistics
from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block, Rows


class Places(NamedTuple):
    """The encodings of the rows before, in the middle and after, each of mean zero there."""

    before: Encoding
    middle: Encoding
    after: Encoding

    @classmethod
    def of(cls, rows: Rows, encoding: Encoding) -> Self:
        """Those of the windows in ``rows``."""
        return cls(*(encoding.less(mean) for mean in rows.accumulate(PlaceSums.of(encoding)).means))


@dataclass(frozen=True, eq=False)
class PlaceSums:
    """Features of windows, by the place of the row."""

    total: Array  # (3, q)
    count: Array  # (3, q)

    @classmethod
    def of(cls, encoding: Encoding) -> Callable[[Block], "PlaceSums"]:
        """The function that sums a block."""

        def summarise(block: Block) -> PlaceSums:
            z, m = encoding.features(block), block.observed.astype(float)
            middle = Windows.of(block).middle
            weight = block.weighed(np.ones(len(block)))[middle]
            at = (middle - 1, middle, middle + 1)
            total = np.array([weight @ z[rows] for rows in at])
            return cls(total, np.array([weight @ m[rows] for rows in at])[:, encoding.item])

        return summarise

    def __add__(self, other: Self) -> Self:
        return type(self)(self.total + other.total, self.count + other.count)

    @property
    def means(self) -> Array:
        """Zero where no window holds an item; (3, q)."""
        return self.total / np.where(self.count > 0, self.count, 1.0)


@dataclass(frozen=True, eq=False)
class TimeSums:
    """Pairs of the rows of windows, by weight: features z, presence m and statistics f."""

    z12: Array  # (q, q)  Σ z1 z2'
    z13: Array
    z23: Array
    m12: Array  # (j, j)  Σ m1 m2'
    m13: Array
    m23: Array
    f21: Array  # (s, q)  Σ f2 z1'
    f23: Array
    h21: Array  # (j, q)  Σ m2 z1'
    h23: Array
    middle: MeetingSums

    @classmethod
    def of(cls, places: Places, statistics: Statistics) -> Callable[[Block], "TimeSums"]:
        """The function that sums a block."""
        of_middle = MeetingSums.of(places.middle, statistics)

        def summarise(block: Block) -> TimeSums:
            middle = Windows.of(block).middle
            rows = [block.rows(at) for at in (middle - 1, middle, middle + 1)]
            z1, z2, z3 = (e.features(row) for e, row in zip(places, rows, strict=True))
            m1, m2, m3 = (row.observed.astype(float) for row in rows)
            weight = rows[1].weighed(np.ones(len(middle)))[:, None]
            f2 = statistics(rows[1]) * weight
            w1, w2, held = z1 * weight, z2 * weight, m2 * weight
            return cls(
                z12=w1.T @ z2,
                z13=w1.T @ z3,
                z23=w2.T @ z3,
                m12=m1.T @ held,
                m13=(m1 * weight).T @ m3,
                m23=held.T @ m3,
                f21=f2.T @ z1,
                f23=f2.T @ z3,
                h21=held.T @ z1,
                h23=held.T @ z3,
                middle=of_middle(rows[1]),
            )

        return summarise

    def __add__(self, other: Self) -> Self:
        names = (field.name for field in fields(self))
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def completion(self, second: Second, rank: int) -> Completion:
        """``B2 B2'`` and its factor."""
        item, weights = second.encoding.item, second.weights
        scale = weights[item]
        pairs = ((self.z12, self.m12), (self.z13, self.m13), (self.z23, self.m23))
        all_pairs = [
            total / np.maximum(count, 1.0)[np.ix_(item, item)] * np.outer(scale, scale)
            for total, count in pairs
        ]
        sides = np.hstack([side for pair in all_pairs for side in (pair, pair.T)])
        common = np.linalg.svd(sides, full_matrices=False)[0][:, :rank]
        c12, c13, c23 = (common.T @ pair @ common for pair in all_pairs)
        same = c12.T @ np.linalg.pinv(c13.T, rcond=1e-3) @ c23.T
        values, vectors = np.linalg.eigh((same + same.T) / 2)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > 0
        factor = common @ (vectors[:, kept] * np.sqrt(np.minimum(values[kept], float(len(scale)))))
        unscaled = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        return Completion(unscaled[:, None] * factor, values, int(np.count_nonzero(kept)), 1)

    def backs(self, item: Ints, emphasis: Array, back: Array) -> tuple[Array, Array, Array]:
        """B1, B2 and B3, given B2."""
        before = back @ between(self.z12, self.m12, item, emphasis, back)
        return before, back, back @ between(self.z23, self.m23, item, emphasis, back).T

    def told(
        self,
        mean: Array,
        owner: Ints,
        item: Ints,
        emphasis: Array,
        backs: tuple[Array, Array, Array],
    ) -> Equations:
        """What the rows before and after tell of statistics with these means of middle rows."""
        after = Neighbour(self.f23, self.h23, self.m23, backs[2])
        before = Neighbour(self.f21, self.h21, self.m12.T, backs[0])
        return told_by((after, before), mean, owner, item, emphasis)
