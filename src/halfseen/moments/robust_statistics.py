"""Robust location and scale of columns, rounding, and repeated values.

Nothing here rests on means: a typing error moves them as far as it likes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_columns
from halfseen.data.sums import HIGHEST, LOWEST, Sums

MOST_VALUES = 5000
"""Of each feature: the outermost of the quantiles still rest on a hundred."""
MOST_IN_ALL = 4_000_000
FEWEST_VALUES = 250
TAILS = (0.25, 0.10, 0.05, 0.02)
"""Where spreads are measured, to both sides: the widest of them counts."""
FENCE = 4.0
"""Spreads from the middle to the fences."""
NARROWEST = 0.25
"""A side is at least so wide as a share of the other."""
SPIKE = 0.2
"""A value that so many cells hold is one apart."""
CLEAR_SPIKE = 0.05
"""The same if no other value is nearly as common."""
NEARLY = 0.2
FEWEST_OTHERS = 10
"""Different values beside it: fewer are levels."""
COMMON = 0.01
COVERED = 0.9


class RobustColumn(NamedTuple):
    """How the values of one feature are recorded."""

    middle: float
    spread: float
    low: float
    high: float
    variance: float
    spike: float
    other: float
    step: float


@dataclass(frozen=True, eq=False)
class RobustSummary:
    """How the values of each feature are recorded: location, scale, spike, step; (d,) each."""

    middle: Array  # the median of values that are not the commonest, if that is most
    spread: Array  # a standard deviation, as far as the bulk of values tells
    low: Array  # fences: what is beyond them is not moved by a mean
    high: Array
    variance: Array  # of values within the fences, without the spike
    spike: Array  # the value that many cells hold exactly; NaN if there is none
    other: Array  # the only other value, if there are two; NaN otherwise
    step: Array  # between values, if these are few; 0 otherwise

    def select(self, features: Mask) -> Self:
        return type(self)(*(getattr(self, one.name)[features] for one in fields(self)))

    @property
    def two_valued(self) -> Mask:
        """Features with exactly two values; (d,)."""
        return ~np.isnan(self.other)

    @property
    def spiked(self) -> Mask:
        """Features with one frequent value among many others; (d,)."""
        return ~np.isnan(self.spike) & np.isnan(self.other)

    def beyond(self, sums: FeatureSums, times: float) -> Mask:
        """Features with a value beyond ``times`` the outlier limits; (d,)."""
        below = self.middle - times * (self.middle - self.low)
        above = self.middle + times * (self.high - self.middle)
        outside: Mask = (sums.minimum < below) | (sums.maximum > above)
        return outside


def robust_summary(rows: Rows, sums: FeatureSums) -> RobustSummary:
    """How the features of ``rows``, all of which vary, are recorded; one pass."""
    d = len(rows.names)
    most = min(MOST_VALUES, max(MOST_IN_ALL // max(d, 1), FEWEST_VALUES))
    samples = sample_columns(rows, sums.count, most).sorted(d)
    ranges = zip(sums.minimum, sums.maximum, strict=True)
    found = [
        robust_column(*sample, *range_) for sample, range_ in zip(samples, ranges, strict=True)
    ]
    return RobustSummary(*np.array(found, dtype=float).reshape(d, len(RobustColumn._fields)).T)


def robust_column(values: Array, weights: Array, lowest: float, highest: float) -> RobustColumn:
    """How a feature with these ``values`` (s,), ascending, is recorded; it has such a range."""
    levels, first = np.unique(values, return_index=True)
    shares = np.add.reduceat(weights, first) / weights.sum() if len(values) else np.empty(0)
    if len(levels) < 2:  # what varies is not in the sample
        levels, shares = np.array([lowest, highest]), np.array([0.5, 0.5])
    spike, other = _spike(levels, shares)
    rest = shares.copy()
    if rest.max() > 0.5 and len(levels) > 2:
        rest[rest.argmax()] = 0.0
    middle, down, up = _sides(levels, rest / rest.sum())
    low, high = middle - FENCE * down, middle + FENCE * up
    common = levels[shares >= 0.5 * SPIKE]  # what is common is no error
    low, high = min(low, common.min(initial=low)), max(high, common.max(initial=high))
    kept = np.where(levels == spike, 0.0, shares) if np.isnan(other) else shares
    inside = np.clip(levels, low, high)
    mean = np.average(inside, weights=kept)
    variance = float(np.average((inside - mean) ** 2, weights=kept))
    spread = (up + down) / 2
    variance = variance if variance > 0 else spread * spread
    return RobustColumn(middle, spread, low, high, variance, spike, other, _step(levels, shares))


def _spike(levels: Array, shares: Array) -> tuple[float, float]:
    """The value of many cells, and the other value of a two-valued feature; NaN without one."""
    if len(levels) == 2:
        return float(levels[1]), float(levels[0])
    order = np.argsort(shares)
    first, second = shares[order[-1]], shares[order[-2]]
    alone = second < NEARLY * first
    stands_out = first >= SPIKE or (first >= CLEAR_SPIKE and alone)
    if stands_out and alone and len(levels) > FEWEST_OTHERS:
        return float(levels[order[-1]]), np.nan
    return np.nan, np.nan


def _sides(levels: Array, shares: Array) -> tuple[float, float, float]:
    """The median, and robust standard deviations below and above it."""
    reached = np.cumsum(shares)
    middle = _quantile(levels, reached, 0.5)
    far = [-ndtri(tail) for tail in TAILS]
    pairs = list(zip(TAILS, far, strict=True))
    up = float(max((_quantile(levels, reached, 1 - tail) - middle) / z for tail, z in pairs))
    down = float(max((middle - _quantile(levels, reached, tail)) / z for tail, z in pairs))
    if up == down == 0:  # nearly all are one value: what else there is has to say how wide
        mean = float(np.average(levels, weights=shares))
        up = down = float(np.sqrt(float(np.average((levels - mean) ** 2, weights=shares))))
    widest = float(max(up, down)) or float(np.ptp(levels)) or 1.0
    return middle, max(down, NARROWEST * widest), max(up, NARROWEST * widest)


def _quantile(levels: Array, reached: Array, share: float) -> float:
    """The lowest level that at least so great a share of values does not exceed, by ``reached``."""
    place = int(np.searchsorted(reached, share - 1e-12))
    return float(levels[min(place, len(levels) - 1)])


def _step(levels: Array, shares: Array) -> float:
    """The smallest common step between values, if nearly all values are multiples of it."""
    common = shares >= COMMON
    if shares[common].sum() <= COVERED or np.count_nonzero(common) < 2:
        return 0.0
    return float(np.diff(levels[common]).min())


FAR = 1.5
"""Times as far from the middle as the fences."""
APART = 2.0
"""Times as far from the middle as the furthest of the others."""


@dataclass(frozen=True, eq=False)
class FarSums(Sums):
    """Counts of values by their distance from the middle, relative to the outlier limits.

    Below the middle and above it, (2, d) each.
    """

    inside: Array = field(
        metadata=HIGHEST
    )  # the furthest of those that are not far; 0 if there is none
    count: Array  # of those that are
    nearest: Array = field(metadata=LOWEST)  # of those; +inf if there is none
    furthest: Array = field(metadata=HIGHEST)  # 0 if there is none

    @classmethod
    def beyond(cls, seen: RobustSummary) -> Callable[[Block], "FarSums"]:
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


class FarValues(NamedTuple):
    """Values of one feature far from all others on one side."""

    feature: int
    n_cells: int
    furthest: float  # of them
    others: float  # the furthest value that is not one of them


def far_values(rows: Rows, sums: FeatureSums) -> list[FarValues]:
    """Values far from all others in ``rows``; two passes."""
    seen = robust_summary(rows, sums)
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


# How often each value is there, of features that hold few different ones.


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Weighted counts of values, of given ones and of all others."""

    known: Array  # (v, m)  of the values of each feature, as they were listed
    feature: NDArray[np.intp]  # (s,)  of the others, each value of a feature once
    value: Array  # (s,)
    weight: Array  # (s,)

    @classmethod
    def of(cls, features: Mask, values: Array) -> Callable[[Block], "ValueCounts"]:
        """A summarise function; given ``values`` (v, m) ascend, padded with NaN."""
        sizes = np.sum(values == values, axis=0)
        run: Any = _count

        def summarise(block: Block) -> ValueCounts:
            part = block.select(features)
            weights = np.ones(len(block)) if block.weights is None else block.weights
            known, other = np.zeros(values.shape), np.zeros((values.shape[1], len(block)), bool)
            columns, seen = np.ascontiguousarray(part.values.T), part.observed.T
            run(columns, np.ascontiguousarray(seen), weights, values, sizes, known, other)
            feature, row = np.nonzero(other)
            return cls(known, *_once(feature, columns[feature, row], weights[row]))

        return summarise

    def __add__(self, other: Self) -> Self:
        pairs = ("feature", "value", "weight")
        joined = (np.concatenate([getattr(self, one), getattr(other, one)]) for one in pairs)
        return type(self)(self.known + other.known, *_once(*joined))

    def each(self, values: Array) -> list[tuple[Array, Array]]:
        """The values of every feature, ascending, with their counts."""
        found = []
        for m, (listed, count) in enumerate(zip(values.T, self.known.T, strict=True)):
            own = self.feature == m
            every = np.concatenate([listed[count > 0], self.value[own]])
            often = np.concatenate([count[count > 0], self.weight[own]])
            order = np.argsort(every)
            found.append((every[order], often[order]))
        return found


def padded(lists: Sequence[Array]) -> Array:
    """Lists of values as columns padded with NaN; (v, m)."""
    out = np.full((max(map(len, lists), default=0), len(lists)), np.nan)
    for m, values in enumerate(lists):
        out[: len(values), m] = values
    return out


def _once(
    feature: NDArray[np.intp], value: Array, weight: Array
) -> tuple[NDArray[np.intp], Array, Array]:
    """Each distinct value of a feature with its total weight."""
    order = np.lexsort((value, feature))
    feature, value, weight = feature[order], value[order], weight[order]
    new = np.ones(len(value), bool)
    new[1:] = (feature[1:] != feature[:-1]) | (value[1:] != value[:-1])
    first = np.flatnonzero(new)
    total = np.add.reduceat(weight, first) if len(first) else weight[:0]
    return feature[first], value[first], total


@njit(cache=True, nogil=True)
def _count(
    x: Array,
    seen: Mask,
    weights: Array,
    values: Array,
    sizes: np.ndarray,
    known: Array,
    other: Mask,
) -> None:  # pragma: no cover - compiled
    for m in range(len(x)):
        for row in range(x.shape[1]):
            if seen[m, row]:
                low, high, value = 0, sizes[m], x[m, row]
                while low < high:
                    middle = (low + high) // 2
                    if values[middle, m] < value:
                        low = middle + 1
                    else:
                        high = middle
                if low < sizes[m] and values[low, m] == value:
                    known[low, m] += weights[row]
                else:
                    other[m, row] = True
