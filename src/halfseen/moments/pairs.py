"""Pairs of features: joint counts, products, and the route to second moments that they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from halfseen.moments.gaps.joint_counts import pair_counts
from halfseen.moments.gaps.joint_gaps import Gaps, JointGaps
from halfseen.moments.moments import Moments, Signal
from halfseen.moments.weights import Whitening, whiten
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.naming import features, quoted
from halfseen.rows.rows import Block, Rows


def check_pairs(count: Array, names: Sequence[str]) -> None:
    """Every pair of features needs a row that holds both."""
    apart = np.argwhere(np.triu(count == 0))
    if not len(apart):
        return
    others = f" (nor are {len(apart) - 1} other pairs)" if len(apart) > 1 else ""
    raise DataError(
        f"{features(names, apart[0])} are never observed in the same row, so their covariance "
        f"cannot be estimated{others}. Drop one of them, add rows that hold both, or use "
        "method='partial', which uses the complete features only."
    )


def met(count: Array) -> Mask:
    """Features of which every pair is observed together, from joint counts (d, d); (d,).

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
    """The dimensions that features span, up to rounding; those that do not vary span none."""
    variance = np.diag(moments.covariance)
    scale = np.sqrt(np.where(variance > 0, variance, np.inf))
    values = np.linalg.eigvalsh(moments.covariance / scale / scale[:, None])
    return int(np.count_nonzero(np.abs(values) > 1e-10 * np.abs(values).max(initial=0.0)))


def check_rank(moments: Moments, names: Sequence[str], rank: int, n_components: int) -> None:
    """The features must span as many dimensions as the components need."""
    available = spanned(moments)
    if available < rank:
        raise DataError(
            f"n_components={n_components} needs features that span at least {rank} dimensions, but "
            f"the {len(names)} used (n_features={len(names)}: {quoted(names, range(len(names)))}) "
            f"span {available}. Use at most {min(n_components - rank + available, len(names))} "
            "components, or add "
            "features that are not sums or copies of others."
        )


@dataclass(frozen=True, eq=False)
class PairSums:
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

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total)


class SecondMoment(Protocol):
    """A route to the second moment of a table with gaps."""

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        """Where the gaps are."""

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        """Moments about the means, or about zero."""

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        """Features of which every pair is observed together, as far as that can be helped; (d,)."""

    def rank(self, moments: Moments) -> int:
        """How many dimensions the features span, at most."""

    def check(self, moments: Moments, rows: Rows, rank: int, n_components: int) -> None:
        """Refuse moments of less than the ``rank`` that the components need."""

    def whiten(self, signal: Signal, weights: Array, rank: int) -> Whitening:
        """Whiten a weighted signal to ``rank`` dimensions."""


class AllPairs:
    """Available-case: every pair of features from the rows that hold both, in a d × d array."""

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        """Where the gaps are, from joint counts."""
        return JointGaps(rows.accumulate(pair_counts), features.n_rows)

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        """Moments about the means, or about zero."""
        origin: Array = features.mean if centred else np.zeros_like(features.mean)
        pairs = rows.accumulate(PairSums.about(origin))
        check_pairs(pairs.count, rows.names)
        return (Moments.central if centred else Moments.raw)(features, pairs)

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        """Features of which every pair is observed together; (d,)."""
        rarest = np.sort(features.count)[:2]
        if rarest.sum() > features.n_rows * (1 + 1e-9):  # any two must meet
            return np.ones(len(features.count), dtype=bool)
        return met(rows.accumulate(pair_counts))

    def rank(self, moments: Moments) -> int:
        """How many dimensions the features span, up to rounding."""
        return spanned(moments)

    def check(self, moments: Moments, rows: Rows, rank: int, n_components: int) -> None:
        """Refuse moments of less than the ``rank`` that the components need."""
        check_rank(moments, rows.names, rank, n_components)

    def whiten(self, signal: Signal, weights: Array, rank: int) -> Whitening:
        """Whiten a weighted signal to ``rank`` dimensions, from all its eigenvalues."""
        return whiten(signal.matrix, weights, rank, signal.noise)
