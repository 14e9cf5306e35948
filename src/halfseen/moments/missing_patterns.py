"""How often columns are observed, alone and together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.feature_sums import fraction_of
from halfseen.data.products import Parts
from halfseen.data.rows import Block
from halfseen.data.sums import JOINED, KeyedSums, Sums


@dataclass(frozen=True, eq=False)
class Panels:
    """Features with gaps, grouped by equal masks (panels of columns).

    Complete features are in neither: they are always there.
    """

    alone: Mask  # (d,)
    together: tuple[Mask, ...]  # (d,) each

    @property
    def parts(self) -> Parts:
        """Each group as a part, after a first part of all other features."""
        labels = np.zeros(len(self.alone), dtype=np.intp)
        for number, members in enumerate(self.together, start=1):
            labels[members] = number
        return Parts(labels, len(self.together) + 1)

    @property
    def representatives(self) -> Mask:
        """One feature of each group; (d,)."""
        chosen = self.alone.copy()
        for members in self.together:
            chosen[np.flatnonzero(members)[0]] = True
        return chosen


def panels_of(count: Array, n_rows: float) -> Panels:
    """Groups of equal masks from joint counts (d, d): N_ij = N_i = N_j."""
    own = count.diagonal()
    gappy = fraction_of(own, n_rows) < 1
    close = 1e-9 * n_rows  # counts are sums of weights
    same = (np.abs(count - own) <= close) & (np.abs(count - own[:, None]) <= close)
    alone = np.zeros(len(own), dtype=bool)
    together = []
    left = gappy.copy()
    for feature in np.flatnonzero(gappy):
        if not left[feature]:
            continue
        members = same[feature] & gappy
        left &= ~members
        if np.count_nonzero(members) == 1:
            alone |= members
        else:
            together.append(members)
    return Panels(alone, tuple(together))


def rows_behind(own: Array, n_rows: float, groups: Panels) -> float:
    """The number of rows before empty ones were left out.

    With no complete feature, independent gaps leave some rows empty, and ``n_rows`` are the others:
    ``n = N (1 - Π_g (1 - N_g/N))``, solved for N. A table with a complete feature has no such rows,
    and counts of what is not there (blank lines) do not matter.
    """
    if np.count_nonzero(groups.alone) + sum(map(np.count_nonzero, groups.together)) < len(own):
        return n_rows
    total = n_rows
    for _ in range(1000):
        before = total
        total = n_rows / float(1 - np.prod(1 - own[groups.representatives] / total))
        if abs(total - before) <= 1e-12 * total:
            break
    return total


INDEPENDENT_BELOW = 5.0
"""The largest standardised deviation, over all pairs, that chance is still likely to give."""


def dependence_of_gaps(count: Array, n_rows: float) -> float:
    """The largest deviation of joint counts (d, d) from those of independent gaps.

    Zero if fewer than two features have gaps.
    """
    return float(np.abs(joint_excess(count, n_rows)).max(initial=0.0))


def joint_excess(count: Array, n_rows: float) -> Array:
    """The excess of joint counts over chance, in standard deviations.

    ``N_ij N / (N_i N_j) - 1`` over its standard deviation under independence,
    ``√((1 - p_i)(1 - p_j) / (N p_i p_j))``; (d, d), zero on the diagonal and for features without
    gaps or without values.
    """
    fraction = fraction_of(count.diagonal(), n_rows)
    gappy = (fraction < 1) & (fraction > 0)
    p = fraction[gappy]
    excess = count[np.ix_(gappy, gappy)] / (n_rows * np.outer(p, p)) - 1
    spread = np.sqrt(np.outer((1 - p) / p, (1 - p) / p) / n_rows)
    every = np.zeros(count.shape)
    every[np.ix_(gappy, gappy)] = excess / spread
    np.fill_diagonal(every, 0.0)
    return every


class Gaps(Protocol):
    """Joint counts of observed features, as far as the method needs them."""

    all_pairs: ClassVar[bool]  # whether there is an array of all pairs of features

    @property
    def n_rows(self) -> float:
        """The weighted number of non-empty rows."""

    @property
    def own(self) -> Array:
        """``N_i``, the number of rows in which each feature is observed; (d,)."""

    @property
    def exact(self) -> bool:
        """Whether the joint counts of all pairs of features are known."""

    @property
    def groups(self) -> Panels:
        """Features with equal masks."""

    @property
    def rows_behind(self) -> float:
        """The number of rows before empty ones were left out."""

    @property
    def dependence(self) -> float:
        """The largest deviation of groups of features from independent gaps."""

    @property
    def dependence_of_features(self) -> float:
        """The same deviation for single features."""

    def counted(self, matrix: Any, vectors: Array) -> Array:
        """``Σ_j N_ij R_ij v_j`` for a matrix R (d, d) and vectors (d, m); (d, m)."""

    def rarest(self) -> tuple[int, int, float]:
        """The pair of features observed together least often, and the number of rows."""


@dataclass(frozen=True, eq=False)
class JointGaps:
    """Gaps from the joint counts of all pairs of features."""

    all_pairs: ClassVar[bool] = True
    exact: ClassVar[bool] = True
    count: Array  # (d, d)
    n_rows: float

    def counted(self, matrix: Any, vectors: Array) -> Array:
        product: Array = (self.count * matrix) @ vectors
        return product

    @property
    def own(self) -> Array:
        return self.count.diagonal()

    @property
    def groups(self) -> Panels:
        return panels_of(self.count, self.n_rows)

    @property
    def rows_behind(self) -> float:
        return rows_behind(self.own, self.n_rows, self.groups)

    @property
    def dependence(self) -> float:
        chosen = self.groups.representatives
        return dependence_of_gaps(self.count[np.ix_(chosen, chosen)], self.rows_behind)

    @property
    def dependence_of_features(self) -> float:
        return dependence_of_gaps(self.count, self.n_rows)

    def rarest(self) -> tuple[int, int, float]:
        i, j = np.unravel_index(np.argmin(self.count), self.count.shape)
        return int(i), int(j), float(self.count[i, j])


_AT_A_TIME = 4096


@dataclass(frozen=True, eq=False)
class MaskRows(KeyedSums):
    """Distinct masks of a few features, and the number of rows of each."""

    codes: NDArray[np.uint8] = field(metadata=JOINED)  # (u, ⌈f / 8⌉)
    count: Array = field(metadata=JOINED)  # (u,)  by weight

    @classmethod
    def of(cls, features: NDArray[np.intp]) -> Callable[[Block], "MaskRows"]:
        """The function that lists the masks of ``features``, given by number, in a block."""

        def summarise(block: Block) -> MaskRows:
            codes = np.packbits(block.present(features), axis=1)
            weights = block.row_weights()
            return cls(len(features), 0, codes, weights).merged()

        return summarise

    def __len__(self) -> int:
        return len(self.codes)

    def merged(self) -> Self:
        codes, place = np.unique(self.codes, axis=0, return_inverse=True)
        count = np.bincount(place, weights=self.count, minlength=len(codes)).astype(float)
        return type(self)(self.n_features, len(codes), codes, count)

    def pieces(self) -> Iterator[tuple[Array, Array]]:
        """Batches of masks (u, f), one where observed, with their numbers of rows (u,)."""
        for start in range(0, len(self.codes), _AT_A_TIME):
            some = slice(start, start + _AT_A_TIME)
            bits = np.unpackbits(self.codes[some], axis=1, count=self.n_features)
            yield bits.astype(float), self.count[some]


# Whether the values of one feature differ where another is missing.


FEW_ROWS = 30
"""Below this many rows a mean or a covariance over them says next to nothing."""
CLEAR = 5.0
"""Standard errors that chance is unlikely to give, at the worst of all pairs of features."""
TELLING = 0.1
"""Shifts of means below so many standard deviations are too small to matter."""


class Shift(NamedTuple):
    """The difference of a feature between rows with and without another feature."""

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
        """The most significant large shift, if there is one.

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
