"""The different masks that rows have, and how many rows have each."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.rows import Block

_AT_A_TIME = 4096


@dataclass(frozen=True, eq=False)
class MaskRows:
    """Masks of a few features, a bit each, and the rows behind them; repeated ones are merged."""

    n_features: int
    codes: NDArray[np.uint8]  # (u, ⌈f / 8⌉)
    count: Array  # (u,)  by weight
    n_merged: int  # so many of them are known to differ

    @classmethod
    def of(cls, features: NDArray[np.intp]) -> Callable[[Block], "MaskRows"]:
        """The function that lists the masks of ``features``, given by number, in a block."""

        def summarise(block: Block) -> MaskRows:
            codes = np.packbits(block.present(features), axis=1)
            weights = block.weighed(np.ones(len(block)))
            return cls(len(features), codes, weights, 0).merged()

        return summarise

    def __add__(self, other: Self) -> Self:
        both = type(self)(
            self.n_features,
            np.concatenate([self.codes, other.codes]),
            np.concatenate([self.count, other.count]),
            max(self.n_merged, other.n_merged),
        )
        # Sorting costs more than keeping: do it when what was kept has doubled.
        return both.merged() if len(both.codes) > 2 * both.n_merged + 65536 else both

    def merged(self) -> Self:
        """The same with every mask only once."""
        codes, place = np.unique(self.codes, axis=0, return_inverse=True)
        count = np.bincount(place, weights=self.count, minlength=len(codes)).astype(float)
        return type(self)(self.n_features, codes, count, len(codes))

    def pieces(self) -> Iterator[tuple[Array, Array]]:
        """Some masks (u, f), one where observed, and the rows behind them (u,), at a time."""
        for start in range(0, len(self.codes), _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            bits = np.unpackbits(self.codes[some], axis=1, count=self.n_features)
            yield bits.astype(float), self.count[some]
