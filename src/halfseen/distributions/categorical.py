"""Categorical, ordinal and binary columns: one probability per value.

A density is then a look into a table, and what the M-step needs is a histogram for each component.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.block import Block
from halfseen.data.compiled import njit
from halfseen.data.errors import DataError
from halfseen.distributions import negative_binomial
from halfseen.distributions.column_kinds import ColumnFacts, ColumnKind, Random, those
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.distributions.negative_binomial import MOST_COUNTS
from halfseen.moments.product_mixture.encoding import Item

Places = NDArray[np.int32]
"""Of cells, column by column (m, n): their place in the table, or -1 if they say nothing."""

MOST_DECLARED = 1000
"""Values of a column that is declared to be one of few."""
RAREST = 0.1
"""Of a value's share in the table, that every component begins with."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The categorical columns, and the range of table entries of each."""

    columns: Mask  # (d,)    which they are
    counts: Mask  # (m,)     which of them count: their values are 0, 1, 2, ...
    values: Array  # (v, m)  of the others, ascending; NaN beyond the last
    starts: NDArray[np.intp]  # (m + 1,)
    in_turn: Mask  # (m,)    whether values are 0, 1, 2, ..., and so their own places

    @classmethod
    def of(cls, kinds: Array, level_values: Array, most_counts: Array) -> "Levels":
        """The categorical columns of a table with ``kinds`` (d,)."""
        columns = those(kinds, "tabulated")
        counts = ~those(kinds, "has_values")[columns]
        values = level_values[:, columns]
        sizes = np.where(counts, np.nan_to_num(most_counts[columns]) + 1, (values == values).sum(0))
        _check_sizes(sizes, values)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        whole = np.arange(len(values), dtype=float)[:, None]
        in_turn = counts | ((values == whole) | np.isnan(values)).all(axis=0)
        return cls(columns, counts, np.ascontiguousarray(values), starts, in_turn)

    @cached_property
    def size(self) -> int:
        """The number of table entries."""
        return int(self.starts[-1])

    @cached_property
    def owner(self) -> NDArray[np.intp]:
        """The column of each table entry; (size,)."""
        return np.repeat(np.arange(len(self.counts)), np.diff(self.starts))

    @cached_property
    def entries(self) -> NDArray[np.intp]:
        """Table entries that are categories, not counts."""
        return np.flatnonzero(~self.counts[self.owner])

    @cached_property
    def column(self) -> NDArray[np.intp]:
        """The table column of each of those entries."""
        return np.flatnonzero(self.columns)[self.owner[self.entries]]

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """The position of each of those entries among its column's values."""
        return self.entries - self.starts[self.owner[self.entries]]

    @cached_property
    def firsts(self) -> NDArray[np.intp]:
        """Which of those entries are the first of their column."""
        return np.flatnonzero(self.place == 0)

    @cached_property
    def of_first(self) -> NDArray[np.intp]:
        """The first entry of the column of each of those entries."""
        return np.cumsum(self.place == 0) - 1

    @cached_property
    def counted(self) -> list[tuple[int, slice]]:
        """Count columns and their ranges of entries."""
        columns = np.flatnonzero(self.columns)
        pairs = zip(columns, self.stretches, self.counts, strict=True)
        return [(int(d), part) for d, part, count in pairs if count]

    @cached_property
    def stretches(self) -> list[slice]:
        """The range of entries of each column."""
        return [slice(a, b) for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]

    def value(self) -> Array:
        """The value of each table entry; (size,)."""
        found = [
            np.arange(part.stop - part.start, dtype=float)
            if count
            else self.values[: part.stop - part.start, m]
            for m, (part, count) in enumerate(zip(self.stretches, self.counts, strict=True))
        ]
        return np.concatenate(found) if found else np.empty(0)

    def places(self, block: Block) -> Places:
        """Table entries of the cells of a block; unknown values have none."""
        part = block.select(self.columns)
        out = np.empty((len(self.counts), len(block)), dtype=np.int32)
        run: Any = _places
        values, seen = np.ascontiguousarray(part.values.T), np.ascontiguousarray(part.observed.T)
        run(values, seen, self.in_turn, self.values, self.starts, out)
        return out


def looked_up(places: Places, table: Array) -> Array:
    """Sums over columns of the ``table`` (size, k) entries of each row's cells; (k, n)."""
    out = np.zeros((table.shape[1], places.shape[1]))
    run: Any = _look_up
    run(places, np.ascontiguousarray(table), out)
    return out


def histograms(places: Places, shares: Array, size: int) -> Array:
    """The weight of each component (k, n) at each table entry; (k, size)."""
    out = np.zeros((size, len(shares)))
    run: Any = _histograms
    run(places, np.ascontiguousarray(shares), out)
    return out.T


@njit(cache=True, nogil=True)
def _places(
    x: Array, seen: Mask, in_turn: Mask, values: Array, starts: np.ndarray, out: np.ndarray
) -> None:  # pragma: no cover - compiled
    for m in range(len(in_turn)):
        start, size = starts[m], starts[m + 1] - starts[m]
        for row in range(x.shape[1]):
            place, value = -1, x[m, row]
            if seen[m, row] and size > 0:
                if in_turn[m]:
                    if 0.0 <= value < size and value == np.floor(value):
                        place = int(value)
                else:
                    low, high = 0, size - 1
                    while low < high:
                        middle = (low + high) // 2
                        if values[middle, m] < value:
                            low = middle + 1
                        else:
                            high = middle
                    if values[low, m] == value:
                        place = low
            out[m, row] = start + place if place >= 0 else -1


@njit(cache=True, nogil=True)
def _look_up(places: np.ndarray, table: Array, out: Array) -> None:  # pragma: no cover - compiled
    k, n = out.shape
    size = 256
    here = np.empty((size, k))
    for start in range(0, n, size):
        stop = min(start + size, n)
        here[:] = 0.0
        for m in range(len(places)):
            for row in range(start, stop):
                place = places[m, row]
                if place >= 0:
                    for c in range(k):
                        here[row - start, c] += table[place, c]
        for c in range(k):
            for row in range(start, stop):
                out[c, row] = here[row - start, c]


@njit(cache=True, nogil=True)
def _histograms(
    places: np.ndarray, shares: Array, out: Array
) -> None:  # pragma: no cover - compiled
    k, n = shares.shape
    size = 256
    here = np.empty((size, k))
    for start in range(0, n, size):
        stop = min(start + size, n)
        for c in range(k):
            for row in range(start, stop):
                here[row - start, c] = shares[c, row]
        for m in range(len(places)):
            for row in range(start, stop):
                place = places[m, row]
                if place >= 0:
                    for c in range(k):
                        out[place, c] += here[row - start, c]


def _check_sizes(sizes: Array, values: Array) -> None:
    """Check what compiled loops rely on: every column has entries in ascending order."""
    if not ((sizes >= 1) & (sizes <= MOST_COUNTS + 1)).all():
        raise ValueError(f"a column of few values has from 1 to {MOST_COUNTS:g} of them")
    if (values[1:] <= values[:-1]).any() or (np.isnan(values[:-1]) & ~np.isnan(values[1:])).any():
        raise ValueError("values of a column of few values ascend")


# Probabilities of all values of columns of few values, and how they are learned.

LEAST_SHARE = 1e-12
"""No value is impossible: a single cell would then decide the component of its row."""


def log_table(parameters: MixedParameters, levels: Levels) -> Array:
    """Log-probabilities of table entries in each component; (size, k)."""
    kept = vars(parameters).get("log_table")
    if kept is None or kept[0] is not levels:
        kept = vars(parameters)["log_table"] = levels, _log_table(parameters, levels)
    table: Array = kept[1]
    return table


def _log_table(parameters: MixedParameters, levels: Levels) -> Array:
    found = np.empty((levels.size, len(parameters.weights)))
    found[levels.entries] = np.log(parameters.level_shares[levels.place, :, levels.column])
    for d, part in levels.counted:
        rate, shape = parameters.rates[:, d], parameters.count_shapes[:, d]
        counts = np.arange(part.stop - part.start, dtype=float)[:, None]
        found[part] = negative_binomial.log_density(counts, rate, shape)
    return found


def maximised(before: MixedParameters, levels: Levels, histograms: Array) -> MixedParameters:
    """Maximum-likelihood probabilities from weighted counts (k, size)."""
    shares, rates, shapes = before.level_shares, before.rates, before.count_shapes
    if len(levels.entries):
        own = histograms.T[levels.entries]  # (entries, k)
        total = np.add.reduceat(own, levels.firsts)[levels.of_first]
        shares = shares.copy()
        was = shares[levels.place, :, levels.column]
        found = np.divide(own, total, out=was, where=total > 0)
        shares[levels.place, :, levels.column] = np.maximum(found, LEAST_SHARE)
    if levels.counted:
        rates, shapes = rates.copy(), shapes.copy()
        for d, part in levels.counted:
            rates[:, d], shapes[:, d] = negative_binomial.fitted(histograms[:, part], shapes[:, d])
    return replace(before, level_shares=shares, rates=rates, count_shapes=shapes)


def within(parameters: MixedParameters) -> MixedParameters:
    """Probabilities that sum to one, and positive rates."""
    shares = np.maximum(parameters.level_shares, LEAST_SHARE)
    total = np.nansum(shares, axis=0)
    most = np.where(np.isnan(parameters.most_counts), np.inf, parameters.most_counts + 1)
    rates = np.clip(parameters.rates, negative_binomial.LEAST_RATE, most)
    return replace(parameters, level_shares=shares / np.where(total > 0, total, 1.0), rates=rates)


class Categorical(ColumnKind):
    """One of a few values, each with a probability in each component: ``p(x = l) = θ_l``."""

    word = "categorical"
    has_values = True
    tabulated = True

    def item(self, column: ColumnFacts) -> Item:
        return Item("levels", levels=tuple(column.values))

    def statistics_of(self, column: ColumnFacts, x: Array) -> Array:
        return np.asarray(x[:, None] == column.values, dtype=float)

    def start_values(self, column: ColumnFacts, means: Array) -> dict[str, Array]:
        some = np.maximum(means, RAREST * column.histogram)
        return {"level_shares": (some / some.sum(axis=1, keepdims=True)).T}

    def means(self, parameters: MixedParameters, columns: Labels) -> Array:
        """Of the numbers that values are."""
        shares = parameters.level_shares[:, :, columns]
        return np.asarray(np.nansum(shares * parameters.level_values[:, None, columns], axis=0))

    def variances(self, parameters: MixedParameters, columns: Labels) -> Array:
        shares = parameters.level_shares[:, :, columns]
        away = parameters.level_values[:, None, columns] - self.means(parameters, columns)
        return np.asarray(np.maximum(np.nansum(shares * away**2, axis=0), 1e-12))

    def draw(self, parameters: MixedParameters, d: int, labels: Labels, random: Random) -> Array:
        """A random value for each row of the given components; (n,)."""
        below = np.nancumsum(parameters.level_shares[:, :, d], axis=0)[:, labels]
        place = (below < random.random_sample(len(labels)) * below[-1]).sum(axis=0)
        last = parameters.n_values[d] - 1
        found: Array = parameters.level_values[np.minimum(place, last), d]
        return found

    def masses(self, parameters: MixedParameters, d: int, home: MixedParameters) -> Array:
        masses: Array = parameters.level_shares[: parameters.n_values[d], :, d]
        return masses

    def as_numbers(self, column: ColumnFacts, x: Array) -> Array:
        """One indicator a value; a value that the table did not have is a gap."""
        return np.where(np.isin(x, column.values), x == column.values, np.nan)

    def centres_as_numbers(self, parameters: MixedParameters, d: int) -> Array:
        shares: Array = parameters.level_shares[: parameters.n_values[d], :, d].T
        return shares

    def table_at(self, column: ColumnFacts, places: Array) -> Array:
        """Probabilities of the values (k, l) of components at given positions."""
        return places

    def profile(self, spread: Array, model: Any, d: int) -> dict[str, Any]:
        values, labels = model.level_values_[:, d], model.coding_.labels[d]
        values = values[np.isfinite(values)]
        called = [int(value) if value == int(value) else float(value) for value in values]
        called = [labels[int(value)] for value in values] if labels else called
        shares = dict(zip(called, model.level_shares_[:, :, d], strict=False))
        return {"kind": self.word, "probabilities": shares}

    def check(self, name: str, values: Array) -> None:
        if len(values) > MOST_DECLARED:
            raise DataError(
                f"Column '{name}' is to hold categories, but holds {len(values):,} different "
                f"values, and can hold {MOST_DECLARED:,}. Declare it continuous or ignored."
            )


class Ordinal(Categorical):
    """Ordered values, each with a probability of its own."""

    word = "ordinal"
    ordered = True


class Binary(Categorical):
    """One of two values."""

    word = "binary"


def likeliest(parameters: MixedParameters, shares: Array) -> tuple[Array, Array]:
    """The most probable value of categorical columns, given ``shares`` (n, k); (n, d).

    And how likely it is.
    """
    nothing = np.full((len(shares), len(parameters.kinds)), np.nan)
    values, chances = nothing, nothing.copy()
    for d in np.flatnonzero(parameters.of_levels):
        chance = chances_of(parameters, shares, int(d))
        place = chance.argmax(axis=1)
        values[:, d] = parameters.level_values[place, d]
        chances[:, d] = np.minimum(chance.max(axis=1), 1.0)
    return values, chances


def chances_of(parameters: MixedParameters, shares: Array, d: int) -> Array:
    """The probability of each value of a categorical column, given ``shares``; (n, l)."""
    found: Array = shares @ parameters.level_shares[: parameters.n_values[d], :, d].T
    return found
