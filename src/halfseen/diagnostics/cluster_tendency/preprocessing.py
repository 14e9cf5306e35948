"""Rows made ready for the comparison: canonical order, standardised columns, rounding undone."""

import zlib
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from halfseen.data.arrays import Array, Labels, Mask

FEW_VALUES = 7
"""A column of at most so many distinct values is treated as categories: a density on it would
be a set of spikes."""
FEW_COUNTS = 15
"""The same of whole numbers of which one is in many cells, such as small counts: no normal has
their shape."""
HEAP = 0.2
"""Share of the cells of a column from which on one value is a heap."""
HEAP_NOISE = 0.15
"""Standard deviation of the noise on columns with a heap, in standard deviations of the column:
without it a density becomes an infinite spike there."""


LEAST_OUTSIDE = 20
"""Cells beside a heap from which on their own distribution is looked at."""
FURTHEST, IQR_OF_A_NORMAL = 20.0, 1.349
"""Robust standard deviations from the median beyond which distances count by their logarithm: a
mistyped value must not decide where a column's other values are, on its scale."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows in canonical order; numbers standardised and free of ties, categories as codes."""

    numbers: Array  # (n, p)  NaN in the gaps
    codes: Array  # (n, c)  0, 1, …; NaN in the gaps
    order: Labels  # (n,)  which of the rows given each of these is
    cluster: Labels  # (n,)  rows of one cluster depend on each other; one each if none do
    of_numbers: Labels  # (p,)  which of the columns given the numbers are
    of_codes: Labels  # (c,)  which of them the codes are

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.order)


def prepared(
    values: Array,
    categorical: Mask | None = None,
    clusters: Labels | None = None,
    *,
    split: bool = True,
) -> Prepared:
    """``values`` (n, d) with NaN in the gaps; ``categorical`` (d,), None if it is to be found.

    Rows of the same of ``clusters`` (n,) are never on both sides of a comparison. Beside
    categories, a column with a heap is ``split``: whether a cell is in the heap, and its value if
    it is not.

    Neither the order of rows and columns nor the units of columns matter: rows are sorted by
    symmetric functions of their ranks in the columns, and the noise that undoes rounding
    depends on these ranks alone.
    """
    values = np.asarray(values, dtype=float)
    if categorical is None:
        categorical = np.array([has_few_values(column) for column in values.T], dtype=bool)
    varies = np.array([len(np.unique(x[~np.isnan(x)])) > 1 for x in values.T], dtype=bool)
    if not varies.any():
        nobody = np.empty(0, dtype=np.intp)
        return Prepared(np.empty((0, 0)), np.empty((0, 0)), nobody, nobody, nobody, nobody)
    kept = np.flatnonzero(~np.isnan(values[:, varies]).all(axis=1))
    values, categorical = values[np.ix_(kept, varies)], categorical[varies]
    given = np.flatnonzero(varies)
    if split and categorical.any():
        values, categorical, given = _split(values, categorical, given)
    order = canonical_order(values)
    columns = _columns_in_order(values[order])
    values, categorical = values[order][:, columns], categorical[columns]
    numbers = [smoothed(column) for column in values[:, ~categorical].T]
    codes = [_coded(column) for column in values[:, categorical].T]
    place = kept[order]
    cluster = np.arange(len(place)) if clusters is None else _renumbered(clusters[place])
    given = given[columns]
    return Prepared(
        _stacked(numbers, len(order)),
        _stacked(codes, len(order)),
        place,
        cluster,
        given[~categorical],
        given[categorical],
    )


def _split(values: Array, categorical: Mask, given: Labels) -> tuple[Array, Mask, Labels]:
    """Indicators of heaps among numbers beside these; the numbers are gaps there."""
    found, values, left = [], values.copy(), np.ones(len(given), dtype=bool)
    for j in np.flatnonzero(~categorical):
        levels, counts = np.unique(values[~np.isnan(values[:, j]), j], return_counts=True)
        if counts.max() > HEAP * counts.sum() and len(levels) > 2:
            heap = values[:, j] == levels[counts.argmax()]
            found.append((np.where(np.isnan(values[:, j]), np.nan, heap), given[j]))
            values[heap, j] = np.nan
            left[j] = counts.sum() - counts.max() >= LEAST_OUTSIDE
    if not found:
        return values, categorical, given
    indicators, of = zip(*found, strict=True)
    return (
        np.column_stack([values[:, left], *indicators]),
        np.r_[categorical[left], np.ones(len(found), bool)],
        np.r_[given[left], of],
    )


def _renumbered(clusters: Labels) -> Labels:
    """0, 1, … by the first row of each, so that names do not matter."""
    _, first, which = np.unique(clusters, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[which])


def canonical_order(values: Array) -> Labels:
    """An order (n,) of the rows that the order of rows and columns and units do not change."""
    ranks = rankdata(values, axis=0, nan_policy="omit")
    keys = [np.nansum(ranks**power, axis=1) for power in (3, 2, 1)]
    return np.lexsort((*keys, np.isnan(values).sum(axis=1)))


def _columns_in_order(values: Array) -> Labels:
    """An order of the columns that neither their places nor their units change; (d,)."""
    ranks = np.nan_to_num(rankdata(values, axis=0, nan_policy="omit"))
    return np.lexsort(ranks[::-1])


def smoothed(column: Array) -> Array:
    """A standardised column (n,) with noise of one rounding step, or more if it has a heap."""
    column = _drawn_in(column)
    seen = ~np.isnan(column)
    levels, counts = np.unique(column[seen], return_counts=True)
    scaled = (column - np.nanmean(column)) / np.nanstd(column)
    ranks = np.where(seen, rankdata(column, nan_policy="omit"), 0.0)
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(ranks).tobytes()))
    if counts.max() > HEAP * seen.sum():
        scaled = scaled + rng.normal(0, HEAP_NOISE, len(column))
    if len(levels) < seen.sum() / 2:
        step = np.median(np.diff(levels)) / np.nanstd(column)
        scaled = scaled + rng.uniform(-step / 2, step / 2, len(column))
    return np.asarray(scaled)


def _drawn_in(column: Array) -> Array:
    """A column (n,) of which the furthest values are nearer, in their order."""
    low, middle, high = np.nanquantile(column, [0.25, 0.5, 0.75])
    spread = (high - low) / IQR_OF_A_NORMAL
    if spread == 0:
        return column
    away = (column - middle) / spread
    beyond = np.maximum(np.abs(away) - FURTHEST, 0.0)
    near = np.sign(away) * (np.minimum(np.abs(away), FURTHEST) + np.log1p(beyond))
    return np.where(beyond > 0, middle + spread * near, column)


def has_few_values(column: Array) -> bool:
    """Whether a column (n,) is treated as categories."""
    levels, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    heaped = counts.max(initial=0) > HEAP * counts.sum() and bool((levels % 1 == 0).all())
    return len(levels) <= (FEW_COUNTS if heaped else FEW_VALUES)


def _coded(column: Array) -> Array:
    """Categories (n,) by how often they occur, so that names do not matter."""
    seen = ~np.isnan(column)
    found = np.full(len(column), np.nan)
    found[seen] = np.unique(column[seen], return_inverse=True)[1]
    return found


def _stacked(columns: list[Array], n_rows: int) -> Array:
    return np.column_stack(columns) if columns else np.empty((n_rows, 0))
