"""The same rows, each block changed on its way by a function of the block."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Generic, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.formatting import quoted
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Carried, CarriedHere, Rows, S, T
from halfseen.data.sequences import Numbers, Sequences


@dataclass(frozen=True, eq=False)
class ChangedRows:
    """Rows as ``change(block)`` makes them, with as many rows and features as before.

    The function sees all features, also where only some are selected afterwards.
    """

    rows: Rows
    change: Callable[[Block], Block]
    features: Mask  # (d,)   those that are selected
    origin: Array | None = None  # (d,)  what values are measured from; None is zero

    @classmethod
    def of(cls, rows: Rows, change: Callable[[Block], Block]) -> Self:
        """All features of ``rows``, changed."""
        return cls(rows, change, np.ones(len(rows.names), dtype=bool))

    @property
    def sparse(self) -> bool:
        """As the rows are, unless they are measured from elsewhere."""
        return self.rows.sparse and self.origin is None

    @property
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        names = self.rows.names
        return names if self.features.all() else tuple(compress(names, self.features.tolist()))

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        selected = self.features.copy()
        selected[self.features] = features
        return replace(self, features=selected)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        moved = np.zeros(len(self.features)) if self.origin is None else self.origin.copy()
        moved[self.features] += origin
        return replace(self, origin=moved)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(self._changed(summarise))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(self._changed(summarise), finish)

    def carrying(self, begin: Callable[[Block], T]) -> "CarriedChanged[T]":
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedChanged(self.rows.carrying(self._changed(begin)), self._change())

    def _change(self) -> Callable[[Block], Block]:
        """What makes a block of the changed rows; it does not hold the rows, as workers get it."""
        change, features, origin = self.change, self.features, self.origin

        def changed(block: Block) -> Block:
            block = change(block)
            if not features.all():
                block = block.select(features)
            return block if origin is None else block.recentred(origin[features])

        return changed

    def _changed(self, function: Callable[[Block], T]) -> Callable[[Block], T]:
        """A function of blocks of the changed rows, as one of blocks of the rows."""
        change = self._change()
        return lambda block: function(change(block))


@dataclass(frozen=True, eq=False)
class CarriedChanged(Generic[T]):
    """What is kept beside the rows, where they are, for passes that see them changed."""

    carried: Carried[T]
    change: Callable[[Block], Block]

    def accumulate(self, step: Callable[[Block, T], tuple[S, T]]) -> S:
        """The sum over all blocks of what a step says; the next step gets what it left."""
        change = self.change
        return self.carried.accumulate(lambda block, kept: step(change(block), kept))


@dataclass(frozen=True, eq=False)
class WidenedRows:
    """Rows as blocks of all ``names``, of which they hold some, in any order."""

    rows: Rows
    names: tuple[str, ...]
    origin: Array | None = None  # (d,)  what values are measured from; None is zero

    @property
    def sparse(self) -> bool:
        """Gaps are written out."""
        return False

    @property
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        origin = None if self.origin is None else self.origin[features]
        return replace(self, names=tuple(compress(self.names, features)), origin=origin)

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, origin=origin if self.origin is None else self.origin + origin)

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(self._widened(summarise))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(self._widened(summarise), finish)

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)

    def _widened(self, function: Callable[[Block], T]) -> Callable[[Block], T]:
        """A function of wide blocks as one of narrow ones; workers get it without the rows."""
        own = {name: i for i, name in enumerate(self.rows.names)}
        wide = np.array([i for i, name in enumerate(self.names) if name in own], dtype=int)
        narrow = np.array([own[self.names[i]] for i in wide], dtype=int)
        d, origin = len(self.names), self.origin

        def changed(block: Block) -> T:
            values, observed = np.zeros((len(block), d)), np.zeros((len(block), d), bool)
            values[:, wide], observed[:, wide] = block.values[:, narrow], block.observed[:, narrow]
            made = Block(values, observed, block.weights, block.start, block.sequence)
            return function(made if origin is None else made.recentred(origin))

        return changed


@dataclass(frozen=True, eq=False)
class ReweightedRows:
    """Rows that count as often as their bin says; those of a bin of weight zero are not there."""

    rows: Rows
    bins: Bins
    weights: Array  # (g,)  of the bins

    @property
    def sparse(self) -> bool:
        """As the rows are."""
        return self.rows.sparse

    @property
    def sequenced(self) -> bool:
        """As the rows are."""
        return self.rows.sequenced

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, in order."""
        return self.rows.names

    def select(self, features: Mask) -> Self:
        """The same rows with only some of the features."""
        return replace(self, rows=self.rows.select(features))

    def recentred(self, origin: Array) -> Self:
        """The same rows measured from ``origin`` (d,)."""
        return replace(self, rows=self.rows.recentred(origin))

    def accumulate(self, summarise: Callable[[Block], S]) -> S:
        """The sum of ``summarise(block)`` over all blocks of rows."""
        return self.rows.accumulate(_reweighted(summarise, self.bins, self.weights))

    def condensed(self, summarise: Callable[[Block], S], finish: Callable[[S], T]) -> T:
        """``finish`` of that sum, where the sum is."""
        return self.rows.condensed(_reweighted(summarise, self.bins, self.weights), finish)

    def carrying(self, begin: Callable[[Block], T]) -> CarriedHere[T]:
        """The same rows with ``begin(block)`` kept beside each block, for passes that change it."""
        return CarriedHere(self, begin)


def _reweighted(
    summarise: Callable[[Block], S], bins: Bins, weights: Array
) -> Callable[[Block], S]:
    """What sums a block of the reweighted rows, from a block of the rows."""

    def summarise_reweighted(block: Block) -> S:
        by_row = weights[bins.of(block)]
        present = np.flatnonzero(by_row > 0)
        if len(present) < len(by_row):
            block, by_row = block.rows(present), by_row[present]
        return summarise(
            block if (by_row == 1).all() else block.with_weights(block.weighed(by_row))
        )

    return summarise_reweighted


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
