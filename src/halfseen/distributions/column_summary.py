"""What a table says of its columns before anything is learned: kinds, and values that there are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.rows import Rows
from halfseen.data.sampling import sample_columns
from halfseen.distributions.categorical import MOST_COUNTS, Levels
from halfseen.distributions.column_kinds import WORDS, Kind
from halfseen.moments.robust_statistics import FENCE, habits
from halfseen.moments.survey import Survey
from halfseen.moments.value_counts import ValueCounts, padded

MOST_SAMPLED = 5000
MOST_LEVELS = 10
"""Different numbers that are levels without anybody saying so."""
MOST_DECLARED = 1000
ROWS_A_LEVEL = 10
"""Rows that levels have on average: a small table of numbers is not one of levels."""
HIGHEST_MEDIAN, HIGHEST_COUNT, TOP_SHARE, LEAST_DISPERSION = 20.0, 100.0, 0.02, 0.8
"""What counts are like: low, without a heap at the top, and no less spread than Poisson's."""
BEYOND = 1.5
"""Times as far as the fences are counts that are errors."""


@dataclass(frozen=True, eq=False)
class Facts:
    """Of each column, in the order of the table."""

    names: tuple[str, ...]
    kinds: Array  # (d,)
    level_values: Array  # (v, d)  ascending, NaN beyond the last and for columns without levels
    most_counts: Array  # (d,)     the highest count that is no error; NaN for other columns
    histograms: tuple[Array, ...]  # of each column of levels or counts: shares of its values
    observed: Array  # (d,)        how often it is observed

    @cached_property
    def levels(self) -> Levels:
        """The columns that are not continuous, and their values in one table."""
        return Levels.of(self.kinds, self.level_values, self.most_counts)

    @cached_property
    def pooled(self) -> Array:
        """How often values are there in the table at large; (size,)."""
        own = [self.histograms[d] for d in np.flatnonzero(self.levels.columns)]
        return np.concatenate(own) if own else np.empty(0)

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
        )


def facts_of(rows: Rows, kept: Survey, declared: Mapping[str, str]) -> Facts:
    """Look the kept columns of ``rows`` through; ``declared`` are kinds that somebody said."""
    sums, names = kept.sums, kept.names
    samples = sample_columns(rows, sums.count, MOST_SAMPLED).sorted(len(names))
    kinds = np.array(
        [
            WORDS[declared[name]]
            if name in declared
            else found_kind(*samples[d], sums.count[d], sums.minimum[d], sums.maximum[d])
            for d, name in enumerate(names)
        ],
        dtype=float,
    )
    counted = kinds != Kind.CONTINUOUS
    listed = [np.unique(samples[d][0]) for d in np.flatnonzero(counted)]
    values = padded(listed)
    found = rows.accumulate(ValueCounts.of(counted, values)).each(values) if counted.any() else []
    most_counts, levels = np.full(len(names), np.nan), [np.empty(0)] * len(names)
    shares = [np.empty(0)] * len(names)
    for d, (each, often) in zip(np.flatnonzero(counted), found, strict=True):
        if kinds[d] == Kind.COUNT:
            check_counts(names[d], each)
            most_counts[d] = highest_count(each, often)
            shares[d] = _histogram(each, often, int(most_counts[d]) + 1)
        elif names[d] not in declared and len(each) > MOST_LEVELS:  # what the sample did not show
            kinds[d] = Kind.CONTINUOUS
        else:
            check_levels(names[d], each)
            levels[d], shares[d] = each, often / often.sum()
    return Facts(names, kinds, padded(levels), most_counts, tuple(shares), sums.observed_fraction)


def found_kind(
    values: Array, weights: Array, n_known: float, lowest: float, highest: float
) -> Kind:
    """The kind of a column of numbers, from some of its ``values`` (s,), ascending."""
    levels, first = np.unique(values, return_index=True)
    if len(levels) < 2:
        return Kind.CONTINUOUS
    shares = np.add.reduceat(weights, first) / weights.sum()
    if len(levels) == 2 and levels[0] == lowest and levels[-1] == highest:
        return Kind.BINARY
    enough = n_known >= ROWS_A_LEVEL * len(levels)
    if enough and lowest == 0 and (levels == np.floor(levels)).all() and _counts(levels, shares):
        return Kind.COUNT
    return Kind.ORDINAL if enough and len(levels) <= MOST_LEVELS else Kind.CONTINUOUS


def _counts(levels: Array, shares: Array) -> bool:
    """Whether whole numbers from zero on look counted, rather than measured or rated."""
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
    seen = habits(roots, often, float(roots[0]), float(roots[-1]))
    fence = seen.middle + BEYOND * max(seen.high - seen.middle, FENCE * 0.5)
    return float(min(values[-1], np.ceil(fence**2)))


def _histogram(values: Array, often: Array, n: int) -> Array:
    inside = values < n
    counts = np.bincount(values[inside].astype(int), often[inside], minlength=n)
    shares: Array = counts / counts.sum()
    return shares


def check_counts(name: str, values: Array) -> None:
    """A column that is declared to count holds whole numbers from zero on."""
    wrong = values[(values < 0) | (values != np.floor(values))]
    if len(wrong):
        raise DataError(
            f"Column '{name}' is to hold counts, but holds {wrong[0]:g}. Declare it continuous, or "
            "give whole numbers of at least 0."
        )
    if values[-1] > MOST_COUNTS:
        raise DataError(
            f"Column '{name}' is to hold counts, but holds {values[-1]:g}. Declare counts as large "
            "as that continuous."
        )


def check_levels(name: str, values: Array) -> None:
    """A column that is declared to hold categories has few of them."""
    if len(values) > MOST_DECLARED:
        raise DataError(
            f"Column '{name}' is to hold categories, but holds {len(values):,} different values, "
            f"and can hold {MOST_DECLARED:,}. Declare it continuous or ignored."
        )


def sentence(name: str, kind: Kind, facts: Facts) -> str:
    """What people are told of a column."""
    d = facts.names.index(name)
    n = int(np.isfinite(facts.level_values[:, d]).sum())
    said: Mapping[Kind, str] = {
        Kind.CONTINUOUS: "continuous",
        Kind.COUNT: f"counts, from 0 to {facts.most_counts[d]:.0f}",
        Kind.CATEGORICAL: f"{n} categories",
        Kind.ORDINAL: f"{n} levels, each with a probability of its own",
        Kind.BINARY: "two values",
    }
    return f"'{name}': {said[kind]}."


def informative_columns(facts: Facts) -> Mask:
    """Columns that have gaps; (d,)."""
    return np.asarray(facts.observed < 1)
