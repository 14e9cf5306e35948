"""How many different whole numbers a column holds, in little memory however many they are."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array

MAX_EXACT_INTEGER = 2.0**53
"""Up to which floats hold all whole numbers."""
MAX_HASHES = 1024
"""Scrambled values that are kept: up to so many the count is exact, beyond it errs by some 3 %."""
NEARLY_ALL_FRACTION = 0.95
"""Of values that are nearly all different."""
MIN_VALUES = 20
"""Fewer may be all different by chance."""
MIN_VALUES_TO_SETTLE = 1000
"""Values of which it is clear whether they repeat."""


@dataclass(frozen=True)
class DistinctCount:
    """A sketch of whole numbers: how many, their range, and how many distinct ones.

    Of the values, scrambled so that each is as likely to be small as any other, the smallest are
    kept: how close they lie tells how many there are (Bar-Yossef et al., 2002). Those of rows add
    in any order; those of no rows are neutral.
    """

    n_values: int = 0
    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    smallest: tuple[int, ...] = ()

    @classmethod
    def of(cls, values: Array) -> Self:
        """The sketch of floats with NaN in the gaps."""
        known = values[~np.isnan(values)]
        if not len(known):
            return cls()
        if not (np.isfinite(known).all() and (known == np.floor(known)).all()):
            return cls(whole=False)
        return cls(
            len(known),
            float(known.min()),
            float(known.max()),
            True,
            _smallest_hashes(_hashed(known)),
        )

    def __add__(self, other: Self) -> Self:
        if not (self.whole and other.whole):
            return type(self)(whole=False)
        return type(self)(
            self.n_values + other.n_values,
            min(self.low, other.low),
            max(self.high, other.high),
            True,
            tuple(sorted({*self.smallest, *other.smallest})[:MAX_HASHES]),
        )

    @property
    def different(self) -> float:
        """The approximate number of distinct values."""
        if len(self.smallest) < MAX_HASHES:
            return len(self.smallest)
        return min((MAX_HASHES - 1) / (self.smallest[-1] / 2.0**64), self.n_values)

    @property
    def nearly_all_different(self) -> bool:
        """Whether there are enough values, nearly all of them distinct."""
        enough = self.whole and self.n_values >= MIN_VALUES
        return enough and self.different >= NEARLY_ALL_FRACTION * self.n_values

    @property
    def close_together(self) -> bool:
        """Whether at least half of the whole numbers in the range occur."""
        return self.whole and self.n_values >= (self.high - self.low + 1) / 2

    @property
    def large(self) -> bool:
        """Whether some whole numbers may exceed the precision of floats."""
        furthest = max(abs(self.low), abs(self.high))
        return self.whole and self.n_values > 0 and furthest >= MAX_EXACT_INTEGER

    @property
    def settled(self) -> bool:
        """Whether further rows cannot make the column an identifier."""
        return not self.whole or (
            self.n_values >= MIN_VALUES_TO_SETTLE and self.different < self.n_values / 2
        )


def _hashed(values: Array) -> np.ndarray[Any, Any]:
    """Pseudo-random 64-bit numbers of whole numbers (splitmix64)."""
    bits = (values + 0.0).view(np.uint64)  # the zeros of both signs are one number
    mixed = bits + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    scrambled: np.ndarray[Any, Any] = mixed ^ (mixed >> np.uint64(31))
    return scrambled


def _smallest_hashes(scrambled: np.ndarray[Any, Any]) -> tuple[int, ...]:
    low = scrambled[scrambled < 2.0**64 * min(4 * MAX_HASHES / len(scrambled), 1.0)]
    found = np.unique(low)
    if len(found) < MAX_HASHES and len(low) < len(scrambled):  # many are there several times
        found = np.unique(scrambled)
    return tuple(found[:MAX_HASHES].tolist())


MIN_NUMBERED_ROWS = 3
"""A shorter column may be anything."""


class RowNumbering(NamedTuple):
    """The first and last value of rows that are numbered consecutively.

    Runs of rows that follow each other add; that of no rows is neutral.
    """

    n_rows: int = 0
    first: float = np.nan
    last: float = np.nan
    unbroken: bool = True

    @classmethod
    def of(cls, values: Array) -> Self:
        """The numbering of values in order."""
        if not len(values):
            return cls()
        unbroken = bool(np.isfinite(values).all() and (np.diff(values) == 1).all())
        return cls(len(values), float(values[0]), float(values[-1]), unbroken)

    def then(self, other: Self) -> Self:
        """The numbering of these rows followed by others."""
        if not (self.n_rows and other.n_rows):
            return self if self.n_rows else other
        unbroken = self.unbroken and other.unbroken and other.first == self.last + 1
        return type(self)(self.n_rows + other.n_rows, self.first, other.last, unbroken)

    @property
    def numbers_rows(self) -> bool:
        """Whether the values number the rows of a file."""
        return self.n_rows >= MIN_NUMBERED_ROWS and self.unbroken and self.first in (0.0, 1.0)
