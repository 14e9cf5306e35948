"""The one data protocol: everything that touches data is a sum over blocks of rows.

A *summarise* function turns one :class:`Block` into ``Sums``; sums add with ``+`` and the sums of
a block of no rows are neutral. An engine is anything that holds rows and has the one verb
``accumulate(summarise)``, so that what runs on an array runs on files and on a cluster unchanged.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.entries import DenseEntries, Entries
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.nonzeros import Nonzeros


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a table, all features side by side."""

    values: Array  # (n, d)   zero where not observed
    observed: Mask  # (n, d)
    weights: Array | None = None  # (n,)  how often each row counts, all above zero; None is once
    start: int = 0  # which row of the table is the first: a block's own name

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def from_table(
        cls, table: np.ndarray[Any, Any], weights: Array | None = None, start: int = 0
    ) -> Self:
        """The rows of a table in which NaN marks the gaps; rows of no weight are not there."""
        if weights is not None:
            table, weights = table[weights > 0], weights[weights > 0]
        observed = ~np.isnan(table)
        values = np.where(observed, table, 0.0).astype(np.float64, copy=False)
        return cls(values, observed, weights, start)

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
        return FeatureSums.of_entries(self.values, self.observed, self.weights)

    def nonzeros(self) -> Nonzeros:
        """The counts above zero."""
        return Nonzeros.of(self.values)

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        return replace(self, values=self.values[:, features], observed=self.observed[:, features])

    def rows(self, chosen: NDArray[np.intp]) -> "Block":
        """Only some of the rows, by their place in the block."""
        weights = None if self.weights is None else self.weights[chosen]
        return Block(self.values[chosen], self.observed[chosen], weights, self.start)

    def with_weights(self, weights: Array) -> "Block":
        """The same rows, counting ``weights`` (n,) times."""
        return replace(self, weights=weights)

    def weighed(self, per_row: Array) -> Array:
        """What holds a number or a vector a row, times the rows' weights."""
        if self.weights is None:
            return per_row
        return (per_row.T * self.weights).T


class Sums(Protocol):
    """What blocks of rows are reduced to: merges with ``+``, neutral when empty."""

    def __add__(self, other: Self) -> Self: ...


S = TypeVar("S", bound=Sums)
T = TypeVar("T")


class Carried(Protocol[T]):
    """Rows with something kept beside each block, where the block is."""

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""


class Rows(Protocol):
    """A table with gaps, wherever its rows live."""

    @property
    def sparse(self) -> bool:
        """Whether blocks hold only what is not zero."""

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is: for sums too large to be moved."""

    def carrying(self, begin: Callable[[Block], T]) -> Carried[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""

    def recentred(self, origin: Array) -> "Rows":
        """The same rows measured from ``origin`` (d,), for work that goes over them many times."""
