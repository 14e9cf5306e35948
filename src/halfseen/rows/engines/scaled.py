"""The same rows with their features on other scales: logarithms, shifts, units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError
from halfseen.rows.naming import quoted
from halfseen.rows.rows import Block, Carried, Rows, S, T
from halfseen.rows.sequences import Numbers, Sequences


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows of ``(log x - centre) / scale``, wherever the rows are; gaps stay gaps."""

    rows: Rows
    logged: Mask  # (d,)   which features are replaced by their natural logarithms
    centre: Array  # (d,)
    scale: Array  # (d,)
    names: tuple[str, ...]  # of the features on their scales

    @property
    def sparse(self) -> bool:
        """Zeros are no longer zeros."""
        return False

    @property
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

    @property
    def place(self) -> Numbers | None:
        """Where each row, as it was given, is among these; None if they are as given."""
        return getattr(self.rows, "place", None)

    def in_sequences(self, sequences: Sequences) -> Self:
        """The same rows, following each other."""
        rows: Any = self.rows
        return replace(self, rows=rows.in_sequences(sequences))

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        return replace(
            self,
            rows=self.rows.select(features),
            logged=self.logged[features],
            centre=self.centre[features],
            scale=self.scale[features],
            names=tuple(n for n, keep in zip(self.names, features, strict=True) if keep),
        )

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, centre=self.centre + origin * self.scale)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(_Scaled(self._scaling, summarise))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(_Scaled(self._scaling, summarise), finish)

    def carrying(self, begin: Callable[[Block], T]) -> "CarriedScaled[T]":
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        scaling = self._scaling
        return CarriedScaled(self.rows.carrying(lambda block: begin(scaling(block))), scaling)

    @property
    def _scaling(self) -> "Scaling":
        return Scaling(self.rows.names, self.logged, self.centre, self.scale)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Puts blocks of rows on other scales."""

    names: tuple[str, ...]  # of the features in their own units
    logged: Mask
    centre: Array
    scale: Array

    def __call__(self, block: Block) -> Block:
        """The rows of a block on their scales."""
        values = logarithms(self.names, block.values, block.observed, self.logged)
        scaled = np.where(block.observed, (values - self.centre) / self.scale, 0.0)
        return Block(scaled, block.observed, block.weights, block.start, block.sequence)


@dataclass(frozen=True, eq=False)
class _Scaled(Generic[S]):
    """Sums a block of rows on their scales, given the block as it is; travels to workers."""

    scaling: Scaling
    summarise: Callable[[Block], S]

    def __call__(self, block: Block) -> S:
        return self.summarise(self.scaling(block))


@dataclass(frozen=True, eq=False)
class CarriedScaled(Generic[T]):
    """Kept where the rows are kept."""

    carried: Carried[T]
    scaling: Scaling

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""
        return self.carried.accumulate(lambda block, before: step(self.scaling(block), before))


def logarithms(names: Sequence[str], values: Array, observed: Mask, logged: Mask) -> Array:
    """Values (n, d) with natural logarithms of some features; refused if they have none."""
    if not logged.any():
        return values
    wrong = logged & observed & (values <= 0)
    if wrong.any():
        smallest = np.where(wrong, values, np.inf).min(axis=0, initial=np.inf)
        raise no_logarithms(names, wrong.sum(axis=0), smallest)
    return np.where(logged, np.log(np.where(logged & observed, values, 1.0)), values)


def no_logarithms(
    names: Sequence[str], n_wrong: np.ndarray[Any, Any], smallest: Array
) -> DataError:
    """What is said of features with ``n_wrong`` (d,) values that are not above zero."""
    wrong = np.flatnonzero(n_wrong)
    first = wrong[0]
    return DataError(
        f"{quoted(names, wrong)} cannot be put on a log scale: {n_wrong[first]:,} values of "
        f"'{names[first]}' are not above zero (the smallest is {smallest[first]:g}). Leave "
        f"{'it' if len(wrong) == 1 else 'them'} out of the logarithms, or mark such values as "
        "missing."
    )
