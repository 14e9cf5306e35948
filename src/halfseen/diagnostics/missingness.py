"""What is missing in a table, and in which pattern."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.counts import RepeatedCells
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.missing_patterns import PatternSums
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments.missing_patterns import INDEPENDENT_BELOW, GapValueSums, joint_excess

COMPLETE_ABOVE = 0.95  # fraction of rows, as estimators take it by default
MOST_PATTERNS = 1000
"""That are kept."""
MOST_COMPARED = 1024
"""Of more features, pairs are looked at only among those with the most gaps."""


class Pattern(NamedTuple):
    """A pattern of observed features, and its number of rows."""

    observed: Mask  # (d,)
    n_rows: int


class Pair(NamedTuple):
    """Two features, and how many rows hold both."""

    first: str
    second: str
    n_rows: int


class Shift(NamedTuple):
    """How the values of one feature differ where another is missing."""

    feature: str
    where_missing: str
    difference: float  # in standard deviations of the feature
    deviation: float  # the difference over its standard error


@dataclass(frozen=True, eq=False)
class Missingness:
    """The pattern of missing values of a table."""

    names: tuple[str, ...]
    n_rows: int
    n_empty_rows: int
    n_whole_rows: int  # without gaps
    observed: Array  # (d,)  fractions of the rows
    patterns: tuple[Pattern, ...]  # most common first, of many only so many
    n_patterns: int
    never_together: tuple[Pair, ...]
    rarest: Pair | None  # of those that are together at all
    dependence: float  # largest deviation from features missing independently, in standard ones
    most_dependent: tuple[str, str] | None
    together: bool  # whether those two are missing together, or rather not
    shift: Shift | None  # the clearest sign that gaps depend on values
    n_compared: int  # features whose pairs were looked at

    def without_added(self, n: int) -> Self:
        """The same without so many of the rows that hold nothing: nobody left those out."""
        if n <= 0:
            return self
        nothing = ~np.array([pattern.observed.any() for pattern in self.patterns], bool)
        patterns = [
            one._replace(n_rows=one.n_rows - n * int(empty))
            for one, empty in zip(self.patterns, nothing, strict=True)
        ]
        left = sorted((one for one in patterns if one.n_rows > 0), key=lambda one: -one.n_rows)
        return replace(
            self,
            n_rows=self.n_rows - n,
            n_empty_rows=self.n_empty_rows - n,
            observed=self.observed * self.n_rows / max(self.n_rows - n, 1),
            patterns=tuple(left),
            n_patterns=self.n_patterns - (len(patterns) - len(left)),
        )

    @property
    def complete(self) -> Mask:
        return self.observed >= COMPLETE_ABOVE

    @property
    def independent(self) -> bool:
        return self.dependence < INDEPENDENT_BELOW

    @property
    def at_random(self) -> bool:
        return self.shift is None


def missingness_of(names: Sequence[str], table: Array) -> Missingness:
    """The missingness of a table (n, d) in memory with NaN in the gaps.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.array([[1.0, 2.0], [1.5, np.nan], [2.0, np.nan]])
    >>> found = missingness_of(["age", "crp"], table)
    >>> found.n_whole_rows, found.observed.round(2)
    (1, array([1.  , 0.33]))
    >>> [(pattern.observed.tolist(), pattern.n_rows) for pattern in found.patterns]
    [([True, False], 2), ([True, True], 1)]
    """
    return missingness(MemoryRows(np.asarray(table, dtype=float), tuple(names)))


def missingness(
    rows: Rows,
    sums: FeatureSums | None = None,
    names: tuple[str, ...] | None = None,
    ordered: Mask | None = None,
) -> Missingness:
    """The missingness of rows; ``sums`` of features are used if known.

    Two passes, one if the sums are known. ``names`` if the features have better ones. Values that
    are higher or lower are those of ``ordered`` (d,) features, of all if it is None.
    """
    sums = rows.accumulate(FeatureSums.of) if sums is None else sums
    compared = _compared(sums)
    origin = np.where(sums.count > 0, sums.mean, 0.0)[compared]
    found = rows.accumulate(_GapSums.about(origin, compared))
    names, n_rows = names or rows.names, int(found.patterns.count.sum())
    pair_names = tuple(np.array(names, dtype=object)[compared])
    patterns = found.patterns.merged()
    masks = patterns.first_masks(MOST_PATTERNS)
    n_filled = int(patterns.count[patterns.filled].sum())
    count = found.values.count
    excess = joint_excess(count, max(n_filled, 1))
    i, j = _worst(np.abs(excess))
    some = float(np.abs(excess[i, j])) > 0 if len(pair_names) else False
    return Missingness(
        names=names,
        n_rows=n_rows,
        n_empty_rows=n_rows - n_filled,
        n_whole_rows=int(patterns.count[patterns.whole].sum()),
        observed=sums.count / max(n_rows, 1),
        patterns=tuple(map(Pattern, masks, patterns.count.tolist())),
        n_patterns=len(patterns.count),
        never_together=_never_together(pair_names, count),
        rarest=_rarest(pair_names, count),
        dependence=float(np.abs(excess).max(initial=0.0)),
        most_dependent=(pair_names[i], pair_names[j]) if some else None,
        together=bool(some and excess[i, j] > 0),
        shift=_shift(pair_names, found.values, None if ordered is None else ordered[compared]),
        n_compared=len(pair_names),
    )


def _compared(sums: FeatureSums) -> Mask:
    """The features (d,) whose pairs are compared: the least observed ones.

    Of many features without a gap there is nothing to see.
    """
    count, compared = sums.count, np.zeros(len(sums.count), bool)
    if len(count) > MOST_COMPARED and (count == sums.n_rows).all():
        return compared
    order = np.argsort(np.where(count > 0, count, np.inf), kind="stable")
    compared[order[:MOST_COMPARED]] = True
    return compared


@dataclass(frozen=True, eq=False)
class _GapSums(Sums):
    """Patterns of gaps, and values of features where others are missing."""

    patterns: PatternSums
    values: GapValueSums

    @classmethod
    def about(cls, origin: Array, compared: Mask) -> Callable[[Block], "_GapSums"]:
        """The function that sums a block about ``origin`` (c,), of the ``compared`` features."""
        values = GapValueSums.about(origin)
        return lambda block: cls(PatternSums.of(block), values(block.select(compared)))


def _never_together(names: Sequence[str], count: Array) -> tuple[Pair, ...]:
    own = count.diagonal() > 0
    apart = np.argwhere(np.triu((count == 0) & np.outer(own, own), 1))
    return tuple(Pair(names[i], names[j], 0) for i, j in apart)


def _rarest(names: Sequence[str], count: Array) -> Pair | None:
    pairs = np.triu(count > 0, 1)
    if not pairs.any():
        return None
    i, j = map(int, np.unravel_index(np.argmin(np.where(pairs, count, np.inf)), count.shape))
    return Pair(names[i], names[j], int(count[i, j]))


def _shift(names: Sequence[str], sums: GapValueSums, ordered: Mask | None) -> Shift | None:
    found = sums.clearest_shift(ordered)
    if found is None:
        return None
    return Shift(names[found.feature], names[found.where_missing], *found[2:])


def _worst(values: Array) -> tuple[int, int]:
    i, j = np.unravel_index(np.argmax(values), values.shape) if values.size else (0, 0)
    return int(i), int(j)


CODES = (
    *(-9999.0, -999.0, -99.0, -98.0, -97.0, -88.0, -77.0, -9.0, -8.0, -7.0),
    *(77.0, 88.0, 97.0, 98.0, 99.0, 777.0, 888.0, 997.0, 998.0, 999.0, 8888.0, 9999.0, 99999.0),
)
FAR = 0.5
"""A code is beyond all other values by at least so much of their range."""


class Coded(NamedTuple):
    """A number that seems to stand for a gap."""

    code: float
    n_rows: dict[int, int]  # by feature
    elsewhere: list[int]  # features in which it may be a value like others


@dataclass(frozen=True, eq=False)
class CodeSums:
    """How often each code is there, and where all values lie that are no codes."""

    n_coded: Array  # (c, d)
    low: Array  # (d,)   +inf if there are no such values
    high: Array  # (d,)  -inf

    @classmethod
    def of(cls, block: Block) -> Self:
        """The sums of one block of rows, each of which counts once."""
        cells = block.repeated_cells()
        if cells is not None:
            return cls._of_repeated(cells, block.n_features)
        values, seen = block.values, block.observed
        others = seen & ~np.isin(values, CODES)
        return cls(
            np.array([(seen & (values == code)).sum(axis=0) for code in CODES]),
            np.where(others, values, np.inf).min(axis=0, initial=np.inf),
            np.where(others, values, -np.inf).max(axis=0, initial=-np.inf),
        )

    @classmethod
    def _of_repeated(cls, cells: RepeatedCells, d: int) -> Self:
        """The same of cells, alike ones together."""
        coded = [cells.summed((cells.value == code).astype(float), d) for code in CODES]
        others = cells.where(~np.isin(cells.value, CODES))
        low, high = others.lowest(others.value, d), -others.lowest(-others.value, d)
        return cls(np.array(coded), low, high)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_coded + other.n_coded,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def select(self, features: Mask) -> Self:
        """The sums of only some of the features."""
        return type(self)(self.n_coded[:, features], self.low[features], self.high[features])

    def far(self) -> list[Coded]:
        """Codes that are several times in some feature, far from all values that are no codes."""
        room = np.maximum(self.high - self.low, 1e-9)
        found = []
        for code, n_coded in zip(CODES, self.n_coded, strict=True):
            below = (self.low >= 0) & (code < np.minimum(self.low - FAR * room, 0))
            far = (below | (code > self.high + FAR * room)) & (self.low < self.high)
            here = np.flatnonzero(far & (n_coded > 1))
            if len(here):
                elsewhere = [int(i) for i in np.flatnonzero(~far & (n_coded > 0))]
                found.append(Coded(code, {int(i): int(n_coded[i]) for i in here}, elsewhere))
        return found
