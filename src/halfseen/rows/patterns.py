"""The patterns of gaps that rows have, how many rows have each, and which is the first."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Labels, Mask
from halfseen.rows.rows import Block

FEWEST_TO_MERGE = 65536


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Masks of rows, a bit a feature, with the rows behind them; repeated ones are merged."""

    n_features: int
    codes: NDArray[np.uint8]  # (u, ⌈d / 8⌉)
    count: Labels  # (u,)
    first: Labels  # (u,)  number of the first row
    n_merged: int  # so many of them are known to differ

    @classmethod
    def of(cls, block: Block) -> Self:
        """The patterns of one block of rows, each of which counts once."""
        n_rows = len(block)
        rows = block.start + np.arange(n_rows)
        ones = np.ones(n_rows, np.int64)
        return cls(block.n_features, block.masks(), ones, rows, 0).merged()

    def __add__(self, other: Self) -> Self:
        both = type(self)(
            self.n_features,
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.count, other.count]),
            np.concatenate([self.first, other.first]),
            max(self.n_merged, other.n_merged),
        )
        # Sorting costs more than keeping: do it when what was kept has doubled.
        return both.merged() if len(both.codes) > 2 * both.n_merged + FEWEST_TO_MERGE else both

    def merged(self) -> Self:
        """The same with every pattern only once, most common first, then as they come."""
        whole = np.ascontiguousarray(self.codes).view(f"V{max(self.codes.shape[1], 1)}").reshape(-1)
        _, place, inverse = np.unique(whole, return_index=True, return_inverse=True)
        count, first = np.zeros(len(place), np.int64), np.full(len(place), np.iinfo(np.int64).max)
        np.add.at(count, inverse, self.count)
        np.minimum.at(first, inverse, self.first)
        order = np.lexsort((first, -count))
        codes = self.codes[place[order]]
        return type(self)(self.n_features, codes, count[order], first[order], len(codes))

    @property
    def masks(self) -> Mask:
        """Which features are there in each pattern; (u, d)."""
        return self.first_masks(len(self.codes))

    def first_masks(self, most: int) -> Mask:
        """The same of the first patterns, at most so many."""
        bits = np.unpackbits(self.codes[:most], axis=1, count=self.n_features)
        return bits.astype(bool)

    @property
    def filled(self) -> Mask:
        """Whether patterns hold any feature; (u,)."""
        return np.asarray(self.codes.any(axis=1))

    @property
    def whole(self) -> Mask:
        """Whether patterns hold all features; (u,)."""
        everything = np.packbits(np.ones(self.n_features, bool))
        return np.asarray((self.codes == everything).all(axis=1))
