"""How often each value is there, of features that hold few different ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """Counts of values that are known beforehand, by weight, and of all others one by one."""

    known: Array  # (v, m)  of the values of each feature, as they were listed
    feature: NDArray[np.intp]  # (s,)  of the others, each value of a feature once
    value: Array  # (s,)
    weight: Array  # (s,)

    @classmethod
    def of(cls, features: Mask, values: Array) -> Callable[[Block], "ValueCounts"]:
        """The function that counts a block: ``values`` (v, m) ascend, NaN beyond the last."""
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
        """Of every feature its values, ascending, and how often each is there."""
        found = []
        for m, (listed, count) in enumerate(zip(values.T, self.known.T, strict=True)):
            own = self.feature == m
            every = np.concatenate([listed[count > 0], self.value[own]])
            often = np.concatenate([count[count > 0], self.weight[own]])
            order = np.argsort(every)
            found.append((every[order], often[order]))
        return found


def padded(lists: Sequence[Array]) -> Array:
    """Lists of values as columns, NaN beyond the last of each; (v, m)."""
    out = np.full((max(map(len, lists), default=0), len(lists)), np.nan)
    for m, values in enumerate(lists):
        out[: len(values), m] = values
    return out


def _once(
    feature: NDArray[np.intp], value: Array, weight: Array
) -> tuple[NDArray[np.intp], Array, Array]:
    """Each value of a feature once, with the sum of its weights."""
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
