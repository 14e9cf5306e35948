"""Whether a column is 0, 1, 2, ... or 1, 2, 3, ..., as many programs number rows."""

from typing import NamedTuple, Self

import numpy as np

from halfseen.rows.arrays import Array

FEWEST_ROWS = 3
"""A shorter column may be anything."""


class Run(NamedTuple):
    """The first and the last value of some rows, if each is one more than the one before.

    Runs of rows that follow each other add; that of no rows is neutral.
    """

    n_rows: int = 0
    first: float = np.nan
    last: float = np.nan
    unbroken: bool = True

    @classmethod
    def of(cls, values: Array) -> Self:
        """The run of some values in order."""
        if not len(values):
            return cls()
        unbroken = bool(np.isfinite(values).all() and (np.diff(values) == 1).all())
        return cls(len(values), float(values[0]), float(values[-1]), unbroken)

    def then(self, other: Self) -> Self:
        """The run of these rows and of those that follow them."""
        if not (self.n_rows and other.n_rows):
            return self if self.n_rows else other
        unbroken = self.unbroken and other.unbroken and other.first == self.last + 1
        return type(self)(self.n_rows + other.n_rows, self.first, other.last, unbroken)

    @property
    def numbers_rows(self) -> bool:
        """Whether these can be the numbers of the rows of a file."""
        return self.n_rows >= FEWEST_ROWS and self.unbroken and self.first in (0.0, 1.0)
