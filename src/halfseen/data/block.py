"""A block of rows: the argument of a summarise function."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.compiled import njit
from halfseen.data.counts import Nonzeros, RepeatedCells
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.products import DenseEntries, Entries
from halfseen.data.sequences import Numbers, part_of

Columns = NDArray[np.intp]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a table, with the values and masks of all features."""

    values: Array  # (n, d)   zero where not observed
    observed: Mask  # (n, d)
    weights: Array | None = None  # (n,)  how often each row counts, all above zero; None is once
    start: int = 0  # which row of the table is the first: a block's own name
    sequence: Numbers | None = None  # (n,)  that rows are of; None if they have no neighbours

    def __len__(self) -> int:
        return len(self.values)

    @property
    def n_features(self) -> int:
        return int(self.values.shape[1])

    @staticmethod
    def from_table(
        table: np.ndarray[Any, Any],
        weights: Array | None = None,
        start: int = 0,
        columns: Columns | None = None,
        sequence: Numbers | None = None,
    ) -> "TableBlock":
        """The rows of a table with NaN in the gaps; rows with weight zero are left out.

        Of its ``columns``, given by number, or of all.
        """
        if weights is not None and not (weights > 0).all():
            there = np.flatnonzero(weights > 0)
            table, weights, sequence = table[there], weights[there], part_of(sequence, there)
        every = np.arange(table.shape[1]) if columns is None else columns
        return TableBlock.of(table, every, weights, start, sequence)

    def about(self, origin: Array) -> Array:
        """Deviations from ``origin``, zero in the gaps; (n, d)."""
        return (self.values - origin) * self.observed

    def deviations(self, origin: Array) -> Entries:
        """Deviations from ``origin`` (d,), as a matrix to multiply with."""
        return DenseEntries(self.about(origin))

    def presence(self) -> Entries:
        """One where an entry is observed, as a matrix to multiply with."""
        return DenseEntries(self.observed.astype(float))

    def present(self, features: NDArray[np.intp]) -> Mask:
        """Whether entries of ``features``, given by number, are observed; (n, len(features))."""
        return self.observed[:, features]

    def feature_sums(self) -> FeatureSums:
        """Counts, sums and ranges of the observed entries of each feature."""
        return FeatureSums.of_table(np.where(self.observed, self.values, np.nan), self.weights)

    def repeated_cells(self) -> RepeatedCells | None:
        """Observed cells grouped by equal values, if most cells repeat; each row counts once."""
        return None

    def masks(self) -> NDArray[np.uint8]:
        """Which features are observed in each row, one bit a feature; (n, ⌈d / 8⌉)."""
        return np.packbits(self.observed, axis=1)

    def along_presence(self, origin: Array) -> tuple[Array, Array, Array]:
        """Counts, sums and squares of feature i over the rows that hold feature j; (d, d) each.

        Values are measured from ``origin`` (d,).
        """
        values, mask = self.about(origin), self.observed.astype(float)
        weighed = self.weighed(mask)
        return mask.T @ weighed, values.T @ weighed, (values**2).T @ weighed

    def nonzeros(self) -> Nonzeros:
        """The counts above zero."""
        return Nonzeros.of(self.values)

    def select(self, features: Mask) -> "Block":
        """The same rows with only some of the features."""
        return replace(self, values=self.values[:, features], observed=self.observed[:, features])

    def rows(self, chosen: NDArray[np.intp]) -> "Block":
        """Only some of the rows, by their position in the block."""
        weights = None if self.weights is None else self.weights[chosen]
        own = part_of(self.sequence, chosen)
        return Block(self.values[chosen], self.observed[chosen], weights, self.start, own)

    def with_weights(self, weights: Array) -> "Block":
        """The same rows with other weights (n,)."""
        return replace(self, weights=weights)

    def divided(self, by: Array) -> "Block":
        """The same rows, each divided by a positive number; (n,)."""
        return replace(self, values=self.values / by[:, None])

    def recentred(self, origin: Array) -> "Block":
        """The same rows measured from ``origin`` (d,), prepared for many passes."""
        return Block(self.about(origin), self.observed, self.weights, self.start, self.sequence)

    def without(self, row: Columns, feature: Columns) -> "Block":
        """The same rows with some entries, given by row and feature (m,), as gaps."""
        observed, values = self.observed.copy(), self.values.copy()
        observed[row, feature], values[row, feature] = False, 0.0
        return replace(self, values=values, observed=observed)

    def emptied(self, chosen: Mask) -> "Block":
        """The same rows with all cells of the ``chosen`` rows (n,) as gaps."""
        kept = ~chosen[:, None]
        return replace(self, values=self.values * kept, observed=self.observed & kept)

    def clipped(self, low: Array, high: Array) -> "Block":
        """The same rows with values clipped to ``low`` and ``high`` (d,)."""
        values = np.clip(self.values, low, high) * self.observed
        return Block(values, self.observed, self.weights, self.start, self.sequence)

    def kept_for(self, key: object, make: Callable[["Block"], T]) -> T:
        """A value computed from the rows and stored under ``key`` if the block serves many passes.

        One thread works on a block at a time.
        """
        kept = vars(self).setdefault("kept", {})
        if id(key) not in kept:
            kept[id(key)] = key, make(self)  # with the key, so that its number stays its own
        made: T = kept[id(key)][1]
        return made

    def row_weights(self) -> Array:
        """The weight of each row; (n,)."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def weighed(self, per_row: Array) -> Array:
        """A number or a vector per row, times the rows' weights."""
        if self.weights is None:
            return per_row
        return (per_row.T * self.weights).T


class made_once(Generic[T]):
    """A property that is computed on first use and stored, safely across threads.

    Before Python 3.12 ``functools.cached_property`` has a lock for all objects, so that threads
    with a block each would wait for one another.
    """

    def __init__(self, make: Callable[[Any], T]):
        self.make, self.__doc__ = make, make.__doc__

    def __get__(self, instance: object, owner: type) -> T:
        made = vars(instance)[self.make.__name__] = self.make(instance)
        return made


class TableBlock(Block):
    """Rows of a table as it came, with NaN in the gaps; other arrays are made on first use.

    They lie feature by feature in memory, as (d, n): work on a feature, or on some of them, then
    runs along memory, however few features there are.
    """

    def __init__(
        self,
        table: Array,
        columns: Columns,
        weights: Array | None = None,
        start: int = 0,
        sequence: Numbers | None = None,
    ):
        parts = {
            "table": table,  # (n, c)      doubles, row by row
            "columns": columns,  # (d,)    those that are the features
            "weights": weights,
            "start": start,
            "sequence": sequence,
        }
        self.__dict__.update(parts)

    table: Array
    columns: Columns

    @classmethod
    def of(
        cls,
        table: np.ndarray[Any, Any],
        columns: Columns,
        weights: Array | None,
        start: int,
        sequence: Numbers | None = None,
    ) -> Self:
        """The rows of any table; anything but C-ordered doubles is copied."""
        if table.dtype == np.float64 and table.flags.c_contiguous:
            return cls(table, columns, weights, start, sequence)
        copied = np.ascontiguousarray(table[:, columns], dtype=np.float64)
        return cls(copied, np.arange(len(columns)), weights, start, sequence)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def n_features(self) -> int:
        return len(self.columns)

    @made_once
    def values(self) -> Array:
        """The entries, zero where not observed; (n, d)."""
        return self.about(np.zeros(len(self.columns)))

    @made_once
    def observed(self) -> Mask:
        """Whether each entry is observed; (n, d)."""
        out = np.empty((len(self.columns), len(self)), dtype=bool)
        _observed(self.table, self.columns, out)
        return out.T

    def about(self, origin: Array) -> Array:
        out = np.empty((len(self.columns), len(self)))
        _about(self.table, self.columns, origin, out)
        return out.T

    def feature_sums(self) -> FeatureSums:
        return FeatureSums.of_table(self._features, self.weights)

    def nonzeros(self) -> Nonzeros:
        starts = np.zeros(len(self) + 1, dtype=np.int64)
        _count_above_zero(self.table, self.columns, starts)
        features, counts = np.empty(starts[-1], dtype=np.int64), np.empty(starts[-1])
        _above_zero(self.table, self.columns, features, counts)
        return Nonzeros(starts, features, counts)

    @property
    def _features(self) -> Array:
        every = len(self.columns) == self.table.shape[1]
        return self.table if every else self.table[:, self.columns]

    def select(self, features: Mask) -> "TableBlock":
        return self._with(self.table, self.columns[features], self.weights)

    def rows(self, chosen: NDArray[np.intp]) -> "TableBlock":
        weights = None if self.weights is None else self.weights[chosen]
        own = part_of(self.sequence, chosen)
        return TableBlock(self.table[chosen], self.columns, weights, self.start, own)

    def without(self, row: Columns, feature: Columns) -> "TableBlock":
        table = self.table.copy()
        table[row, self.columns[feature]] = np.nan
        return self._with(table, self.columns, self.weights)

    def emptied(self, chosen: Mask) -> "TableBlock":
        table = np.where(chosen[:, None], np.nan, self.table)
        return self._with(table, self.columns, self.weights)

    def divided(self, by: Array) -> "TableBlock":
        return self._with(self.table / by[:, None], self.columns, self.weights)

    def with_weights(self, weights: Array) -> "TableBlock":
        return self._with(self.table, self.columns, weights)

    def _with(self, table: Array, columns: Columns, weights: Array | None) -> "TableBlock":
        return TableBlock(table, columns, weights, self.start, self.sequence)


@njit(cache=True, nogil=True)
def _about(
    table: Array, columns: Columns, origin: Array, out: Array
) -> None:  # pragma: no cover - compiled
    for feature in range(len(columns)):
        column, zero = columns[feature], origin[feature]
        for row in range(len(table)):
            value = table[row, column]
            out[feature, row] = value - zero if value == value else 0.0


@njit(cache=True, nogil=True)
def _observed(table: Array, columns: Columns, out: Mask) -> None:  # pragma: no cover - compiled
    for feature in range(len(columns)):
        column = columns[feature]
        for row in range(len(table)):
            value = table[row, column]
            out[feature, row] = value == value


@njit(cache=True, nogil=True)
def _count_above_zero(
    table: Array, columns: Columns, starts: NDArray[np.int64]
) -> None:  # pragma: no cover - compiled
    for row in range(len(table)):
        above = 0
        for column in columns:
            above += 1 if table[row, column] > 0 else 0
        starts[row + 1] = starts[row] + above


@njit(cache=True, nogil=True)
def _above_zero(
    table: Array, columns: Columns, features: NDArray[np.int64], counts: Array
) -> None:  # pragma: no cover - compiled
    place = 0
    for row in range(len(table)):
        for feature in range(len(columns)):
            value = table[row, columns[feature]]
            if value > 0:
                features[place], counts[place] = feature, value
                place += 1
