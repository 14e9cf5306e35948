"""Some of the values of each feature, drawn by lot: for quantiles, and for how values repeat."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.engines.summed import SummedRows
from halfseen.rows.keys import Keys, keys_of, share_of_keys
from halfseen.rows.rows import Block, Rows


@dataclass(frozen=True, eq=False)
class ColumnSamples:
    """Observed values of rows whose keys are low, each with the feature it is of.

    Which rows these are depends on their numbers alone, so that blocks merge to the same sample
    whatever way rows are split.
    """

    feature: NDArray[np.intp]  # (s,)
    value: Array  # (s,)
    weight: Array  # (s,)  how often the row counts

    @classmethod
    def below(cls, limit: Keys) -> Callable[[Block], "ColumnSamples"]:
        """The function that samples a block: of feature d rows with keys up to ``limit`` (d,)."""

        def summarise(block: Block) -> ColumnSamples:
            keys = keys_of(block.start + np.arange(len(block)))
            some = np.flatnonzero(keys <= limit.max(initial=0))
            part = block.rows(some) if len(some) < len(block) else block
            row, feature = np.nonzero(part.observed & (keys[some, None] <= limit))
            weight = part.weighed(np.ones(len(some)))[row]
            return cls(feature, part.values[row, feature], weight)

        return summarise

    def __add__(self, other: Self) -> Self:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return type(self)(*(np.concatenate(pair) for pair in pairs))

    def sorted(self, n_features: int) -> list[tuple[Array, Array]]:
        """Of each feature the sampled values, ascending, and their weights."""
        # Small integers are put in order by counting them, and values that weigh the same by
        # themselves: together several times as fast as all three at once.
        small = self.feature.astype(np.min_scalar_type(n_features))
        order = np.argsort(small, kind="stable")
        ends = np.searchsorted(small[order], np.arange(n_features + 1))
        value, weight = self.value[order], self.weight[order]
        return [_ascending(value[start:end], weight[start:end]) for start, end in pairwise(ends)]


def _ascending(value: Array, weight: Array) -> tuple[Array, Array]:
    if (weight == weight[:1]).all():
        return np.sort(value), weight
    order = np.lexsort((weight, value))
    return value[order], weight[order]


def column_samples(rows: Rows, count: Array, most: int) -> ColumnSamples:
    """About ``most`` values of each feature, or all if it has no more.

    ``count`` (d,) is how many it has, by weight.
    """
    if isinstance(rows, SummedRows) and rows.stand_in is not None:
        rows = rows.stand_in  # no value of theirs may be looked at
    if (count > most).any():  # a row that counts a thousand times is one row to draw from
        count = rows.accumulate(lambda block: block.presence().back(np.ones((len(block), 1)))[:, 0])
    limit = share_of_keys(most / np.maximum(count, 1.0))
    return rows.accumulate(ColumnSamples.below(limit))
