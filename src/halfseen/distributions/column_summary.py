"""Summary of columns before a fit: kinds, and the values that occur."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_columns
from halfseen.distributions.categorical import Levels
from halfseen.distributions.column_kinds import ColumnFacts, kind_named, kind_of
from halfseen.distributions.mean_and_shape import N_SUMS, untabulated
from halfseen.moments.robust_statistics import (
    FENCE,
    RobustSummary,
    ValueCounts,
    padded,
    robust_column,
)
from halfseen.moments.survey import Survey

MOST_SAMPLED = 5000
MOST_LEVELS = 10
"""Different numbers that are levels without anybody saying so."""
ROWS_A_LEVEL = 10
"""Rows that levels have on average: a small table of numbers is not one of levels."""
HIGHEST_MEDIAN, HIGHEST_COUNT, TOP_SHARE, LEAST_DISPERSION = 20.0, 100.0, 0.02, 0.8
"""What counts are like: low, without a heap at the top, and no less spread than Poisson's."""
BEYOND = 1.5
"""Times as far as the outlier limits are counts that are errors."""


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """A column, and what was done to it."""

    names: tuple[str, ...]
    kinds: Array  # (d,)
    level_values: Array  # (v, d)  ascending, NaN beyond the last and for columns without levels
    most_counts: Array  # (d,)     the highest count that is no error; NaN for other columns
    histograms: tuple[Array, ...]  # of each column of levels or counts: shares of its values
    observed: Array  # (d,)        how often it is observed
    statistics: Array  # (N_SUMS, d)  means of what kinds with a mean and a shape are learned from
    middle: Array  # (d,)      of the same columns
    spread: Array  # (d,)

    @cached_property
    def levels(self) -> Levels:
        """The columns of few values or counts, in one table."""
        return Levels.of(self.kinds, self.level_values, self.most_counts)

    @cached_property
    def pooled(self) -> Array:
        """How often values are there in the table at large; (size,)."""
        own = [self.histograms[d] for d in np.flatnonzero(self.levels.columns)]
        return np.concatenate(own) if own else np.empty(0)

    def columns(self, seen: RobustSummary) -> list[ColumnFacts]:
        """What is known of each column, continuous ones being ``seen``."""
        continuous, found = iter(range(len(seen.middle))), []
        for d in range(len(self.names)):
            i = next(continuous) if kind_of(self.kinds[d]).normal else None
            own = () if i is None else (seen.middle[i], seen.spread[i], seen.spike[i])
            found.append(self.column(d, *own))
        return found

    def column(self, d: Any, *about: float) -> ColumnFacts:
        """What is known of a column; ``about`` may be its robust middle, spread and spike."""
        values = self.level_values[:, d]
        known = values[np.isfinite(values)], float(self.most_counts[d]), self.histograms[d]
        return ColumnFacts(
            self.names[d], *known, *(about or (float(self.middle[d]), float(self.spread[d])))
        )

    def select(self, names: tuple[str, ...]) -> Self:
        """Of only some of the columns, by name."""
        place = {name: i for i, name in enumerate(self.names)}
        chosen = np.array([place[name] for name in names], dtype=int)
        values = self.level_values[:, chosen]
        return replace(
            self,
            names=names,
            kinds=self.kinds[chosen],
            level_values=values[np.isfinite(values).any(axis=1)],
            most_counts=self.most_counts[chosen],
            histograms=tuple(self.histograms[i] for i in chosen),
            observed=self.observed[chosen],
            statistics=self.statistics[:, chosen],
            middle=self.middle[chosen],
            spread=self.spread[chosen],
        )


def summarise_columns(rows: Rows, kept: Survey, declared: Mapping[str, str]) -> ColumnSummary:
    """Look the kept columns of ``rows`` through; ``declared`` are kinds that somebody said."""
    sums, names = kept.sums, kept.names
    samples = sample_columns(rows, sums.count, MOST_SAMPLED).sorted(len(names))
    words = [
        declared.get(name)
        or found_kind(*samples[d], sums.count[d], sums.minimum[d], sums.maximum[d])
        for d, name in enumerate(names)
    ]
    kinds = np.array([kind_named(word).code for word in words], dtype=float)
    counted = np.array([kind_named(word).tabulated for word in words], dtype=bool)
    listed = [np.unique(samples[d][0]) for d in np.flatnonzero(counted)]
    values = padded(listed)
    found = rows.accumulate(ValueCounts.of(counted, values)).each(values) if counted.any() else []
    most_counts, levels = np.full(len(names), np.nan), [np.empty(0)] * len(names)
    shares = [np.empty(0)] * len(names)
    for d, (each, often) in zip(np.flatnonzero(counted), found, strict=True):
        kind = kind_of(kinds[d])
        if not kind.has_values:
            kind.check(names[d], each)
            most_counts[d] = highest_count(each, often)
            shares[d] = _histogram(each, often, int(most_counts[d]) + 1)
        elif names[d] not in declared and len(each) > MOST_LEVELS:  # what the sample did not show
            kinds[d] = kind_named("continuous").code
        else:
            kind.check(names[d], each)
            levels[d], shares[d] = each, often / often.sum()
    for kind, columns in untabulated(kinds):
        for d in columns:
            kind.check(names[d], np.array([sums.minimum[d], sums.maximum[d]]))
    return ColumnSummary(
        names,
        kinds,
        padded(levels),
        most_counts,
        tuple(shares),
        sums.observed_fraction,
        *_means(rows, kept, kinds),
    )


def _means(rows: Rows, kept: Survey, kinds: Array) -> tuple[Array, Array, Array]:
    """Means of what kinds with a mean and a shape are learned from, and of squares, by one pass."""
    statistics, middle = np.full((N_SUMS, len(kinds)), np.nan), kept.sums.mean
    if not untabulated(kinds):
        return statistics, middle, np.ones(len(kinds))

    def summarise(block: Block) -> Array:
        found = np.zeros((N_SUMS + 1, len(kinds)))
        for kind, own in untabulated(kinds):
            x, there = block.values[:, own], block.observed[:, own]
            each = (*kind.statistics(np.where(there, x, middle[own])), np.ones_like(x))
            weighed = block.weighed(there.astype(float))
            found[: len(each), own] = [(weighed * one).sum(axis=0) for one in each]
            found[-1, own] = (weighed * (x - middle[own]) ** 2).sum(axis=0)
        return found

    sums = rows.accumulate(summarise)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums / kept.sums.count
    return means[:-1], middle, np.sqrt(np.maximum(means[-1], 1e-300))


def found_kind(values: Array, weights: Array, n_known: float, lowest: float, highest: float) -> str:
    """The kind of a numeric column, from some of its ``values`` (s,), ascending."""
    levels, first = np.unique(values, return_index=True)
    if len(levels) < 2:
        return "continuous"
    shares = np.add.reduceat(weights, first) / weights.sum()
    if len(levels) == 2 and levels[0] == lowest and levels[-1] == highest:
        return "binary"
    enough = n_known >= ROWS_A_LEVEL * len(levels)
    if enough and lowest == 0 and (levels == np.floor(levels)).all() and _counts(levels, shares):
        return "count"
    return "ordinal" if enough and len(levels) <= MOST_LEVELS else "continuous"


def _counts(levels: Array, shares: Array) -> bool:
    """Whether non-negative whole numbers look like counts rather than ratings."""
    below = np.cumsum(shares)
    median, nearly_all = (levels[np.searchsorted(below, q - 1e-12)] for q in (0.5, 0.98))
    usual = np.minimum(levels, max(4 * nearly_all, 1.0))
    mean = float(shares @ usual)
    variance = float(shares @ (usual - mean) ** 2)
    # Where nearly all is nothing, what there is may still be measured.
    some = levels[levels > 0][np.searchsorted(below[levels > 0], (1 + shares[0]) / 2 - 1e-12)]
    low = max(median, some) <= HIGHEST_MEDIAN and nearly_all <= HIGHEST_COUNT
    heaped = shares[-1] > TOP_SHARE and len(levels) <= 2 * MOST_LEVELS
    return bool(low and not heaped and variance >= LEAST_DISPERSION * mean)


def highest_count(values: Array, often: Array) -> float:
    """The highest count that is not an error, by fences on the scale of square roots."""
    roots = np.sqrt(values + 0.375)
    seen = robust_column(roots, often, float(roots[0]), float(roots[-1]))
    fence = seen.middle + BEYOND * max(seen.high - seen.middle, FENCE * 0.5)
    return float(min(values[-1], np.ceil(fence**2)))


def _histogram(values: Array, often: Array, n: int) -> Array:
    inside = values < n
    counts = np.bincount(values[inside].astype(int), often[inside], minlength=n)
    shares: Array = counts / counts.sum()
    return shares
