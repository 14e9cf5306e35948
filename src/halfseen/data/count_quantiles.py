"""How large the counts of each feature are: a sketch that merges, and that keeps no zeros."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.data.rows import Block
from halfseen.data.sums import JOINED, KeyedSums

EXACT = 32
"""Counts up to here are kept as they are."""
PER_DOUBLING = 8
"""Larger ones by size, which are 9 % apart."""
N_SIZES = 512


@njit(cache=True, nogil=True)
def size_of(count: float) -> int:  # pragma: no cover - compiled
    """The number of the size of a count; sizes are 1, 2, ..., 32 and then steps of 9 %."""
    if count < EXACT:
        return int(count)
    return min(int(EXACT + PER_DOUBLING * math.log2(count / EXACT) + 1e-9), N_SIZES - 1)


def lower_edge(size: NDArray[np.integer[Any]]) -> Array:
    """The least count of each size."""
    larger = EXACT * 2.0 ** ((size - EXACT) / PER_DOUBLING)
    return np.where(size < EXACT, size, larger)


@dataclass(frozen=True, eq=False)
class CountTails(KeyedSums):
    """How often each feature has counts of each size, from one on."""

    code: NDArray[np.int64] = field(metadata=JOINED)  # (u,)  feature times N_SIZES, and size
    weight: Array = field(metadata=JOINED)  # (u,)  how often, by weight of the rows

    @classmethod
    def of(cls, block: Block) -> Self:
        """The counts of one block of rows."""
        counts, n_features = block.nonzeros(), block.n_features
        weight = block.row_weights()[counts.rows]
        return cls.sized(n_features, counts.features, counts.counts, weight)

    @classmethod
    def sized(
        cls, n_features: int, feature: NDArray[np.int64], counts: Array, weight: Array
    ) -> Self:
        """Counts (m,), each with its feature and its weight; what is below one is not kept."""
        ends = _ends(feature, counts, n_features)
        laid_out = np.zeros(ends[-1] if n_features else 0)
        _add_sizes(feature, counts, weight, ends, laid_out)
        place = np.flatnonzero(laid_out)
        where = np.searchsorted(ends, place, side="right")
        code = where * N_SIZES + place - np.append(0, ends)[where]
        return cls(n_features, len(code), code, laid_out[place])

    @classmethod
    def of_rows(cls, numbers: Callable[[Block], Array]) -> Callable[[Block], "CountTails"]:
        """The function that sketches ``numbers(block)`` (n, m) of rows; NaN is none."""

        def summarise(block: Block) -> CountTails:
            each = numbers(block)
            weight = np.repeat(block.row_weights(), each.shape[1])
            feature = np.tile(np.arange(each.shape[1]), len(each))
            return cls.sized(each.shape[1], feature, each.ravel(), weight)

        return summarise

    def __len__(self) -> int:
        return len(self.code)

    def merged(self) -> Self:
        """The same with every size of a feature only once, in order."""
        code, inverse = np.unique(self.code, return_inverse=True)
        weight = np.bincount(inverse, weights=self.weight, minlength=len(code)).astype(float)
        return type(self)(self.n_features, len(code), code, weight)

    def totals(self) -> Array:
        """How many counts of one or more each feature has, by weight; (d,)."""
        feature = self.code // N_SIZES
        sums: Array = np.bincount(feature, self.weight, minlength=self.n_features).astype(float)
        return sums

    def largest(self) -> Array:
        """What no count of each feature reaches; 0 if there is none; (d,)."""
        top = np.zeros(self.n_features)
        np.maximum.at(top, self.code // N_SIZES, lower_edge(self.code % N_SIZES + 1))
        return top

    def sums_below(self, limit: Array) -> Array:
        """The sum of the counts of each feature up to ``limit`` (d,), to within a size; (d,)."""
        feature, size = self.code // N_SIZES, self.code % N_SIZES
        middle = np.where(size < EXACT, size, (lower_edge(size) + lower_edge(size + 1)) / 2)
        counted = self.weight * middle * (middle <= limit[feature])
        sums: Array = np.bincount(feature, counted, minlength=self.n_features).astype(float)
        return sums

    def reached_by(self, share: Array) -> Array:
        """What so great a ``share`` (d,) of the counts above zero of each feature reach; (d,).

        Counts of one size are taken to be spread evenly over it, a count of 3 over 3 to 4, so that
        small counts have quantiles between whole numbers too. NaN where nothing is counted.
        """
        sketch = self.merged()
        below = np.concatenate([[0.0], np.cumsum(sketch.weight)])
        bounds = np.searchsorted(sketch.code, np.arange(self.n_features + 1) * N_SIZES)
        first, end = bounds[:-1], bounds[1:]
        reached = np.full(self.n_features, np.nan)
        some = end > first
        first, end = first[some], end[some]
        aim = below[end] - share[some] * (below[end] - below[first])
        place = np.clip(np.searchsorted(below, aim, side="right") - 1, first, end - 1)
        inside = np.clip((aim - below[place]) / sketch.weight[place], 0.0, 1.0)
        size = sketch.code[place] % N_SIZES
        low, high = lower_edge(size), lower_edge(size + 1)
        reached[some] = low + inside * (high - low)
        return reached


@njit(cache=True, nogil=True)
def _ends(
    feature: NDArray[np.int64], counts: Array, n_features: int
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Where the sizes of each feature end, if they lie one after the other; (d,)."""
    largest = np.zeros(n_features)
    for m in range(len(counts)):
        if counts[m] > largest[feature[m]]:
            largest[feature[m]] = counts[m]
    ends = np.zeros(n_features, dtype=np.int64)
    end = 0
    for d in range(n_features):
        if largest[d] >= 1:
            end += size_of(largest[d]) + 1
        ends[d] = end
    return ends


@njit(cache=True, nogil=True)
def _add_sizes(
    feature: NDArray[np.int64],
    counts: Array,
    weight: Array,
    ends: NDArray[np.int64],
    out: Array,
) -> None:  # pragma: no cover - compiled
    for m in range(len(counts)):
        if counts[m] >= 1:
            before = ends[feature[m] - 1] if feature[m] else 0
            out[before + size_of(counts[m])] += weight[m]
