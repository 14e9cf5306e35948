"""How the values of each feature are spread: counts, means, and sums of powers about them."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Self

import numpy as np

from halfseen.rows.arrays import Array, Mask
from halfseen.rows.heaps import Heaps
from halfseen.rows.rows import Block


@dataclass(frozen=True, eq=False)
class ValueSums:
    """Sums of squares and cubes about the mean of each feature, on its own scale or a log scale.

    Sums of two sets of rows are moved to their common mean (Chan, Golub and LeVeque, 1983), so
    that no digits are lost where means are large. Values without a logarithm are only counted.
    """

    n_rows: int
    count: Array  # (d,)
    mean: Array  # (d,)     zero where nothing is observed
    square: Array  # (d,)   Σ (x - mean)²
    cube: Array  # (d,)     Σ (x - mean)³
    n_without: Array  # (d,)  values of logged features that are not above zero
    smallest: Array  # (d,)   +inf where nothing is observed; not on a log scale

    @classmethod
    def logging(cls, logged: Mask) -> Callable[[Block], "ValueSums"]:
        """The function that sums a block, with logarithms of some features."""
        return partial(cls.of, logged=logged)

    @classmethod
    def of(cls, block: Block, logged: Mask | None = None) -> Self:
        """The sums of one block of rows, each of which counts once."""
        heaps = block.heaps()
        if heaps is not None:
            none = np.zeros(block.n_features, bool)
            return cls._of_heaps(len(block), heaps, none if logged is None else logged)
        values, observed = block.values, block.observed
        smallest = np.where(observed, values, np.inf).min(axis=0, initial=np.inf)
        without = np.zeros(observed.shape, bool)
        if logged is not None and logged.any():
            without = logged & observed & (values <= 0)
            observed = observed & ~without
            values = np.where(logged, np.log(np.where(logged & observed, values, 1.0)), values)
        count = observed.sum(axis=0).astype(float)
        per_row = np.maximum(count, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities, which are refused later
            mean = np.where(observed, values, 0.0).sum(axis=0) / per_row
            about = np.where(observed, values - mean, 0.0)
            square, cube = (about**2).sum(axis=0), (about**3).sum(axis=0)
        return cls(len(values), count, mean, square, cube, without.sum(axis=0), smallest)

    @classmethod
    def _of_heaps(cls, n_rows: int, heaps: Heaps, logged: Mask) -> Self:
        """The same of cells in heaps."""
        d = len(logged)
        smallest = heaps.lowest(heaps.value, d)
        log = logged[heaps.feature]
        without = log & (heaps.value <= 0)
        n_without = heaps.summed(without.astype(float), d)
        left, log = heaps.where(~without), log[~without]
        values = np.where(log, np.log(np.where(log, left.value, 1.0)), left.value)
        count = left.summed(np.ones(len(values)), d)
        with np.errstate(invalid="ignore", over="ignore"):  # infinities, which are refused later
            mean = left.summed(values, d) / np.maximum(count, 1.0)
            about = values - mean[left.feature]
            square, cube = left.summed(about**2, d), left.summed(about**3, d)
        return cls(n_rows, count, mean, square, cube, n_without, smallest)

    def __add__(self, other: Self) -> Self:
        a, b = self.count, other.count
        count = np.maximum(a + b, 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            apart = other.mean - self.mean
            both = a * b / count
            cube = apart**3 * both * (a - b) / count
            cube += 3 * apart * (a * other.square - b * self.square) / count
            return type(self)(
                self.n_rows + other.n_rows,
                a + b,
                np.where(a > 0, self.mean + apart * b / count, other.mean),
                self.square + other.square + apart**2 * both,
                self.cube + other.cube + cube,
                self.n_without + other.n_without,
                np.minimum(self.smallest, other.smallest),
            )

    def select(self, features: Mask) -> Self:
        """The sums of only some of the features."""
        n_rows, *each = (getattr(self, field.name) for field in fields(self))
        return type(self)(n_rows, *(array[features] for array in each))

    @property
    def spread(self) -> Array:
        """Standard deviations, over the number of values; (d,)."""
        return np.sqrt(self.square / np.maximum(self.count, 1.0))

    @property
    def skewness(self) -> Array:
        """Mean cubes of standardised values, zero where nothing varies; (d,)."""
        spread = self.spread
        unit = np.where(spread > 0, spread, 1.0)
        skewness: Array = self.cube / np.maximum(self.count, 1.0) / unit**3
        return skewness
