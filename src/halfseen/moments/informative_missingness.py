"""Whether the values of one feature differ where another is missing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Block
from halfseen.data.sums import Sums
from halfseen.moments.survey import FEW_ROWS

CLEAR = 5.0
"""Standard errors that chance is unlikely to give, at the worst of all pairs of features."""
TELLING = 0.1
"""Shifts of means below so many standard deviations are too small to matter."""


class Shift(NamedTuple):
    """How the values of one feature, by number, differ where another is missing."""

    feature: int
    where_missing: int
    difference: float  # in standard deviations of the feature
    deviation: float  # the difference over its standard error


@dataclass(frozen=True, eq=False)
class GapValueSums(Sums):
    """Counts, sums and squares of feature i over the rows that hold feature j, for all i and j."""

    count: Array  # (d, d)
    total: Array  # (d, d)
    square: Array  # (d, d)

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "GapValueSums"]:
        """The function that sums a block about ``origin`` (d,)."""
        return lambda block: cls(*block.along_presence(origin))

    def clearest_shift(self, ordered: Mask | None = None) -> Shift | None:
        """The shift that is least likely to be chance, if any is both clear and large.

        Welch's statistic for the mean of feature i in rows with and without feature j; only of
        features whose values are ``ordered`` (d,), as codes of words are not.
        """
        own = self.count.diagonal()[:, None]
        few = (self.count < FEW_ROWS) | (own - self.count < FEW_ROWS)
        if few.all():
            return None
        whole = GapValueSums(
            *(np.broadcast_to(part.diagonal()[:, None], part.shape) for part in vars(self).values())
        )
        spread = np.sqrt(_means(whole).variance)
        with_it, without = _means(self), _means(_less(whole, self))
        difference = _ratio(without.mean - with_it.mean, spread)
        error = _ratio(
            np.sqrt(with_it.variance / with_it.n_rows + without.variance / without.n_rows), spread
        )
        usable = ~few & (error > 0)
        if ordered is not None:
            usable &= ordered[:, None]
        deviation = np.where(usable, _ratio(difference, error), 0.0)
        clear = (np.abs(deviation) >= CLEAR) & (np.abs(difference) >= TELLING)
        if not clear.any():
            return None
        i, j = np.unravel_index(np.argmax(np.where(clear, np.abs(deviation), 0)), clear.shape)
        return Shift(int(i), int(j), float(difference[i, j]), float(deviation[i, j]))


class _Means(NamedTuple):
    n_rows: Array
    mean: Array
    variance: Array


def _means(sums: GapValueSums) -> _Means:
    n = np.maximum(sums.count, 1.0)
    mean = sums.total / n
    return _Means(n, mean, np.maximum(sums.square / n - mean**2, 0.0))


def _less(whole: GapValueSums, part: GapValueSums) -> GapValueSums:
    pairs = zip(vars(whole).values(), vars(part).values(), strict=True)
    return GapValueSums(*(all_of_it - some for all_of_it, some in pairs))


def _ratio(value: Array, unit: Array) -> Array:
    return np.divide(value, unit, out=np.zeros_like(value), where=unit > 0)
