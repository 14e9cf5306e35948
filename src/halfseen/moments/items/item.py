"""What an item is: a column of any kind, and how the moments see its cells.

A number is seen as ``u = 2Φ((x - m)/s) - 1`` and ``(3u² - 1)/2``, m and s being its robust middle
and spread, a count the same through ``√(x + 3/8)``, and a level as which level it is. All of these
are bounded, so that no cell decides a moment, and classes that differ only in spread are seen.
"""

from collections.abc import Sequence
from math import erf, isfinite, nan, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit

NUMBER, COUNT, LEVELS = 0, 1, 2
KINDS = {"number": NUMBER, "count": COUNT, "levels": LEVELS}
SMALLEST = 1e-300


class Item(NamedTuple):
    """A column, by what is known of it beforehand."""

    kind: Literal["number", "count", "levels"]
    middle: float = 0.0  # of numbers; of the square roots of counts + 3/8
    spread: float = 1.0  # of the same, robust
    spike: float = nan  # the value that many cells hold, if there is one
    levels: tuple[float, ...] = ()  # the values of levels


class Columns(NamedTuple):
    """Items side by side, as compiled functions read them."""

    kind: NDArray[np.int64]  # (j,)
    middle: Array  # (j,)
    scale: Array  # (j,)   1 / (s √2)
    spike: Array  # (j,)   NaN where there is none
    levels: Array  # (l,)  those of each item in order
    first: NDArray[np.int64]  # (j + 1,)  where each item's levels begin

    @classmethod
    def of(cls, items: Sequence[Item]) -> "Columns":
        """What compiled functions need of ``items``."""
        levels = [sorted(item.levels) if item.kind == "levels" else [] for item in items]
        return cls(
            np.array([KINDS[item.kind] for item in items], dtype=np.int64),
            np.array([_finite(item.middle, 0.0) for item in items], dtype=float),
            np.array([_scale(item.spread) for item in items], dtype=float),
            np.array([item.spike for item in items], dtype=float),
            np.array([level for some in levels for level in some], dtype=float),
            np.cumsum([0, *map(len, levels)], dtype=np.int64),
        )


def _finite(value: float, otherwise: float) -> float:
    return value if isfinite(value) else otherwise


def _scale(spread: float) -> float:
    """Without a spread, all that matters is on which side of the middle a value is."""
    return 1 / (max(_finite(spread, 1.0), SMALLEST) * sqrt(2.0))


@njit(cache=True, nogil=True)
def bounded(
    values: Array, count: bool, middle: float, scale: float, spike: float, out: Array
) -> None:  # pragma: no cover - compiled
    """``u``, ``(3u² - 1)/2`` and ``1{x = spike}`` of values (n,); the first two zero there."""
    for row in range(len(values)):
        x = values[row]
        if x == spike:
            out[0, row], out[1, row], out[2, row] = 0.0, 0.0, 1.0
            continue
        t = sqrt(max(x, 0.0) + 0.375) if count else x
        u = erf((t - middle) * scale)
        out[0, row], out[1, row], out[2, row] = u, 1.5 * u * u - 0.5, 0.0
