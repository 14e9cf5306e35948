"""Bounded features of a column of any kind, for moments.

A number is seen as ``u = 2Φ((x - m)/s) - 1`` and ``(3u² - 1)/2``, m and s being its robust middle
and spread, a count the same through ``√(x + 3/8)``, and a level as which level it is. All of these
are bounded, so that no cell decides a moment, and classes that differ only in spread are seen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import erf, isfinite, nan, sqrt
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.rows import Block
from halfseen.data.sums import Sums

NUMBER, COUNT, LEVELS = 0, 1, 2
KINDS = {"number": NUMBER, "count": COUNT, "levels": LEVELS}
SMALLEST = 1e-300


class Item(NamedTuple):
    """A column and what is known about it before the fit."""

    kind: Literal["number", "count", "levels"]
    middle: float = 0.0  # of numbers; of the square roots of counts + 3/8
    spread: float = 1.0  # of the same, robust
    spike: float = nan  # the value that many cells hold, if there is one
    levels: tuple[float, ...] = ()  # the values of levels


class Columns(NamedTuple):
    """Items as arrays for compiled functions."""

    kind: NDArray[np.int64]  # (j,)
    middle: Array  # (j,)
    scale: Array  # (j,)   1 / (s √2)
    spike: Array  # (j,)   NaN where there is none
    levels: Array  # (l,)  those of each item in order
    first: NDArray[np.int64]  # (j + 1,)  where each item's levels begin

    @classmethod
    def of(cls, items: Sequence[Item]) -> "Columns":
        """The arrays of ``items``."""
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
    """The scale of a column, or a step at its middle if it has no spread."""
    return 1 / (max(_finite(spread, 1.0), SMALLEST) * sqrt(2.0))


@njit(cache=True, nogil=True)
def bounded(
    values: Array, count: bool, middle: float, scale: float, spike: float, out: Array
) -> None:  # pragma: no cover - compiled
    """The bounded features ``u``, ``(3u² - 1)/2`` and ``1{x = spike}`` of values (n,)."""
    for row in range(len(values)):
        x = values[row]
        if x == spike:
            out[0, row], out[1, row], out[2, row] = 0.0, 0.0, 1.0
            continue
        t = sqrt(max(x, 0.0) + 0.375) if count else x
        u = erf((t - middle) * scale)
        out[0, row], out[1, row], out[2, row] = u, 1.5 * u * u - 0.5, 0.0


MOST = 8
"""Features of one item: the commonest levels beside the one that is left out."""
RARE = 0.01
"""Levels that a smaller share of cells hold are taken together with the one that is left out."""
THIN = 1e-3
"""Directions with less of the largest variance within an item are but a few odd cells."""
CONSTANT = 1e-10
"""Features are of the order of one: with less variance than this they are constant."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ItemSums(Sums):
    """Sums of bounded features, by which they are centred and whitened."""

    n_rows: float  # rows in which something is observed, by weight
    count: Array  # (j,)    cells, by weight
    shape: Array  # (j, 6)  of numbers and counts: Σu, Σv, Σs, Σu², Σuv, Σv² with v = (3u² - 1)/2
    #                       and s = 1 at the spike, where u and v are zero
    levels: Array  # (l,)   cells with each level, item by item

    @classmethod
    def of(cls, items: Sequence[Item]) -> Callable[[Block], "ItemSums"]:
        """The function that sums a block of ``items``, one a column."""
        columns = Columns.of(items)

        def summarise(block: Block) -> ItemSums:
            weights = block.row_weights()
            shape, levels = np.zeros((len(columns.kind), 6)), np.zeros(len(columns.levels))
            values, observed = _by_column(block)
            _add_cells(values, observed, weights, columns, shape, levels)
            n_rows = float(weights @ observed.any(axis=0))
            return cls(n_rows, observed @ weights, shape, levels)

        return summarise

    @property
    def observed_fraction(self) -> Array:
        """The share of rows in which each item is observed; (j,)."""
        return self.count / max(self.n_rows, np.finfo(float).tiny)


def _by_column(block: Block) -> tuple[Array, Mask]:
    """Values and masks, item by item in memory; (j, n) each."""
    return np.ascontiguousarray(block.values.T), np.ascontiguousarray(block.observed.T)


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _add_cells(
    values: Array, observed: Mask, weights: Array, columns: Columns, shape: Array, levels: Array
) -> None:  # pragma: no cover - compiled
    n_items, n = values.shape
    some = np.empty((3, n))
    for j in range(n_items):
        if columns.kind[j] == LEVELS:
            first, last = columns.first[j], columns.first[j + 1]
            own = columns.levels[first:last]
            for row in range(n):
                if observed[j, row]:
                    place = np.searchsorted(own, values[j, row])
                    if place < last - first and own[place] == values[j, row]:
                        levels[first + place] += weights[row]
            continue
        kind, middle, scale = columns.kind[j], columns.middle[j], columns.scale[j]
        bounded(values[j], kind == 1, middle, scale, columns.spike[j], some)
        a = b = c = d = e = f = 0.0
        for row in range(n):
            weight = weights[row] if observed[j, row] else 0.0
            u, v, s = some[0, row], some[1, row], some[2, row]
            a, b, c = a + weight * u, b + weight * v, c + weight * s
            d, e, f = d + weight * u * u, e + weight * u * v, f + weight * v * v
        for place, total in enumerate((a, b, c, d, e, f)):
            shape[j, place] += total


@dataclass(frozen=True, eq=False)
class Encoding:
    """Features of items with mean zero and identity covariance within each item.

    An item has as many features as its cells vary in: up to three of a number, and one less than
    it has levels, of which rare ones (and all beyond the eight commonest) are taken together with
    the commonest. An item that is constant has none.
    """

    columns: Columns
    kept: Array  # (j, 8)     the levels that have a feature each, NaN beyond
    maps: Array  # (j, 9, 8)  the features of what is left out and of each kept level; of numbers,
    #                         a constant and what u, v and s are multiplied with
    width: Ints  # (j,)       how many features each item has

    @classmethod
    def of(cls, items: Sequence[Item], sums: ItemSums) -> Self:
        """The encoding fitted to ``sums``."""
        columns = Columns.of(items)
        n_items = len(items)
        kept, maps = np.full((n_items, MOST), np.nan), np.zeros((n_items, MOST + 1, MOST))
        width = np.zeros(n_items, dtype=np.int64)
        for j in np.flatnonzero(sums.count > 0):
            if columns.kind[j] == LEVELS:
                own = slice(columns.first[j], columns.first[j + 1])
                chosen, share = _common(sums.levels[own] / sums.count[j])
                kept[j, : len(chosen)] = columns.levels[own][chosen]
                whitening = _whitening(np.diag(share) - np.outer(share, share))
                offset = -share @ whitening
                whitening = whitening + offset
            else:
                mean, covariance = _of_number(sums.shape[j] / sums.count[j])
                whitening = _whitening(covariance)
                offset = -mean @ whitening
            width[j] = whitening.shape[1]
            maps[j, 0, : width[j]] = offset
            maps[j, 1 : len(whitening) + 1, : width[j]] = whitening
        return cls(columns, kept, maps, width)

    @property
    def item(self) -> Ints:
        """The item that each feature is of; (q,)."""
        return np.repeat(np.arange(len(self.width)), self.width)

    def less(self, mean: Array) -> Self:
        """The same features minus ``mean`` (q,), zero in the gaps."""
        maps = self.maps.copy()
        for j, own in enumerate(np.split(mean, np.cumsum(self.width)[:-1])):
            rows = slice(None) if self.columns.kind[j] == LEVELS else 0
            maps[j, rows, : self.width[j]] -= own
        return replace(self, maps=maps)

    def features(self, block: Block) -> Array:
        """The features of a block's rows, zero in the gaps; (n, q), feature by feature in memory.

        Only items that the sums have seen are in it.
        """
        out = np.empty((int(self.width.sum()), len(block)))
        self.write(block, out)
        return out.T

    def write(self, block: Block, out: Array) -> None:
        """Write the features of a block's rows to ``out`` (q, n)."""
        _encode(*_by_column(block), self.columns, self.kept, self.maps, self.width, out)


def _common(share: Array) -> tuple[NDArray[np.intp], Array]:
    """Which values have a feature, and their shares."""
    order = np.argsort(-share, kind="stable")[1 : MOST + 1]
    chosen = np.sort(order[share[order] >= RARE])
    return chosen, share[chosen]


def _of_number(mean: Array) -> tuple[Array, Array]:
    """Mean (3,) and covariance (3, 3) of u, v and s, from the means of them and their products."""
    u, v, s, uu, uv, vv = mean
    first = np.array([u, v, s])
    second = np.array([[uu, uv, 0.0], [uv, vv, 0.0], [0.0, 0.0, s]])
    return first, second - np.outer(first, first)


def _whitening(covariance: Array) -> Array:
    """``A`` with ``A' C A = I`` for the directions in which there is variance; (m, q)."""
    values, vectors = np.linalg.eigh(covariance)
    wide = values > max(THIN * values.max(initial=0.0), CONSTANT)
    whitening: Array = vectors[:, wide] / np.sqrt(values[wide])
    return whitening


@njit(cache=True, nogil=True)
def _encode(
    values: Array,
    observed: Mask,
    columns: Columns,
    kept: Array,
    maps: Array,
    width: Ints,
    out: Array,
) -> None:  # pragma: no cover - compiled
    n_items, n = values.shape
    some, code, first = np.empty((3, n)), np.empty(n, np.int64), 0
    for j in range(n_items):
        if width[j] == 0:
            continue
        table = maps[j]
        if columns.kind[j] == LEVELS:
            for row in range(n):
                code[row] = 0
            for level in range(kept.shape[1]):
                if kept[j, level] == kept[j, level]:
                    for row in range(n):
                        code[row] = level + 1 if values[j, row] == kept[j, level] else code[row]
            for a in range(width[j]):
                for row in range(n):
                    out[first + a, row] = table[code[row], a] if observed[j, row] else 0.0
        else:
            kind, middle, scale = columns.kind[j], columns.middle[j], columns.scale[j]
            bounded(values[j], kind == 1, middle, scale, columns.spike[j], some)
            for a in range(width[j]):
                constant, of_u, of_v, of_s = table[0, a], table[1, a], table[2, a], table[3, a]
                for row in range(n):
                    z = constant + of_u * some[0, row] + of_v * some[1, row] + of_s * some[2, row]
                    out[first + a, row] = z if observed[j, row] else 0.0
        first += width[j]
