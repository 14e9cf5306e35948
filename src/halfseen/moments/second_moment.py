"""First and second moments of a table with gaps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np
from scipy.sparse import diags_array

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums, fraction_of
from halfseen.data.formatting import features, quoted
from halfseen.data.messages import setting
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments.joint_counts import pair_counts
from halfseen.moments.missing_patterns import Gaps, JointGaps
from halfseen.moments.whitening import Signal, Whitening, whiten


@dataclass(frozen=True, eq=False)
class Moments:
    """Available-case moments about an origin: each entry from the rows that hold it.

    Central moments have the marginal means as their origin, which biases them; dividing by

        k_ij = 1 - 1/N_i - 1/N_j + N_ij/(N_i N_j)

    makes them unbiased under values missing completely at random, for every pattern of gaps
    (with no gaps it is (N - 1)/N). Raw moments have the origin zero and need no correction.
    """

    mean: Array  # (d,)
    origin: Array  # (d,)    the mean, or zero
    centred: bool  # whether the origin is the mean
    second: Any  # (d, d)    estimates of E[(x - origin)_i (x - origin)_j]: an array or, if that
    #                        would be too large, what multiplies and has a diagonal like one
    gaps: Gaps
    observed_fraction: Array = field(init=False)  # (d,)  p_i, of the rows

    def __post_init__(self) -> None:
        fraction = fraction_of(self.gaps.own, self.gaps.n_rows)
        object.__setattr__(self, "observed_fraction", fraction)

    @classmethod
    def of_pairs(cls, features: FeatureSums, mean: Array, pairs: "PairSums", centred: bool) -> Self:
        """Central moments from pair sums about the means, or raw ones from sums about zero."""
        gaps = JointGaps(pairs.count, features.n_rows)
        if not centred:
            return cls(mean, np.zeros_like(mean), False, pairs.total / pairs.count, gaps)
        inverse = 1 / features.count
        bias = 1 - np.add.outer(inverse, inverse) + pairs.count * np.outer(inverse, inverse)
        return cls(mean, mean, True, pairs.total / (pairs.count * bias), gaps)

    @property
    def offset(self) -> Array:
        """The mean as seen from the origin: zero for central moments; (d,)."""
        return self.mean - self.origin

    def diagonal(self, values: Array) -> Any:
        """A diagonal matrix (d, d) of the kind that the second moment is."""
        return np.diag(values) if self.gaps.all_pairs else diags_array(values)

    @property
    def covariance(self) -> Array:
        """Second moments about the mean, whatever the origin; (d, d)."""
        covariance: Array = self.second - np.outer(self.offset, self.offset)
        return covariance


def check_pairs(count: Array, names: Sequence[str]) -> None:
    """Refuse pairs of features that no row holds together."""
    apart = np.argwhere(np.triu(count == 0))
    if not len(apart):
        return
    others = f" (nor are {len(apart) - 1} other pairs)" if len(apart) > 1 else ""
    raise DataError(
        f"{features(names, apart[0])} are never observed in the same row, so their covariance "
        f"cannot be estimated{others}. Drop one of them, add rows that hold both, or use "
        + setting(method="partial")
        + ", which uses the complete features only."
    )


def met(count: Array) -> Mask:
    """A set of features in which every pair is observed together; (d,).

    Of a pair that never meets the one goes that meets fewer others, or is observed less.
    """
    left = np.diag(count) > 0
    apart = (count == 0) & np.outer(left, left)
    while apart.any():
        n_apart = apart.sum(axis=1)
        worst = np.flatnonzero(n_apart == n_apart.max())
        left[worst[np.argmin(np.diag(count)[worst])]] = False
        apart &= np.outer(left, left)
    return left


def spanned(moments: Moments) -> int:
    """The number of dimensions that features span, up to rounding."""
    variance = np.diag(moments.covariance)
    scale = np.sqrt(np.where(variance > 0, variance, np.inf))
    values = np.linalg.eigvalsh(moments.covariance / scale / scale[:, None])
    return int(np.count_nonzero(np.abs(values) > 1e-10 * np.abs(values).max(initial=0.0)))


def check_rank(moments: Moments, names: Sequence[str], rank: int, n_components: int) -> None:
    """Refuse features that span fewer dimensions than the components need."""
    available = spanned(moments)
    if available < rank:
        raise DataError(
            setting(n_components=n_components)
            + f" needs features that span at least {rank} dimensions, but "
            f"the {len(names)} used (n_features={len(names)}: {quoted(names)}) "
            f"span {available}. Use at most {min(n_components - rank + available, len(names))} "
            "components, or add "
            "features that are not sums or copies of others."
        )


@dataclass(frozen=True, eq=False)
class PairSums(Sums):
    """Joint counts, and sums of products of deviations from a fixed origin."""

    count: Array  # (d, d)  rows in which features i and j are both observed, by weight
    total: Array  # (d, d)  sum over those rows of (x - origin)_i (x - origin)_j

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "PairSums"]:
        """The function that sums a block about ``origin`` (d,)."""

        def summarise(block: Block) -> PairSums:
            deviations = block.about(origin)
            return cls(pair_counts(block), deviations.T @ block.weighed(deviations))

        return summarise


class SecondMoment(Protocol):
    """A way to compute the second moment of a table with gaps."""

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        """The joint counts of observed features."""

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        """Moments about the means, or about zero."""

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        """Features of which every pair is observed together; (d,)."""

    def rank(self, moments: Moments) -> int:
        """An upper bound of the number of dimensions that the features span."""

    def check(self, moments: Moments, rows: Rows, rank: int, n_components: int) -> None:
        """Refuse moments of lower rank than the components need."""

    def whiten(self, signal: Signal, weights: Array, rank: int) -> Whitening:
        """Whiten a weighted signal to ``rank`` dimensions."""


class AllPairs(SecondMoment):
    """Available-case second moments in a d × d array."""

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        return JointGaps(rows.accumulate(pair_counts), features.n_rows)

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        mean = features.mean
        pairs = rows.accumulate(PairSums.about(mean if centred else np.zeros_like(mean)))
        check_pairs(pairs.count, rows.names)
        return Moments.of_pairs(features, mean, pairs, centred)

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        rarest = np.sort(features.count)[:2]
        if rarest.sum() > features.n_rows * (1 + 1e-9):  # any two must meet
            return np.ones(len(features.count), dtype=bool)
        return met(rows.accumulate(pair_counts))

    def rank(self, moments: Moments) -> int:
        return spanned(moments)

    def check(self, moments: Moments, rows: Rows, rank: int, n_components: int) -> None:
        check_rank(moments, rows.names, rank, n_components)

    def whiten(self, signal: Signal, weights: Array, rank: int) -> Whitening:
        return whiten(signal.matrix, weights, rank, signal.noise)


class WithGaps(Protocol):
    """Sums with joint counts of observed features."""

    @property
    def gaps(self) -> JointGaps: ...


@dataclass(frozen=True, eq=False)
class PairsOfSums(AllPairs):
    """Second moments of rows that are not available, from their sums."""

    sums: WithGaps

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        return self.sums.gaps

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        """All of them: without rows nothing could bring one back."""
        return np.ones(len(features.count), dtype=bool)
