"""Routes to the second moment of a table with gaps, and to what makes it white."""

from typing import Protocol

import numpy as np

from halfseen.moments.checks import check_pairs, check_rank
from halfseen.moments.gaps.gaps import Gaps, JointGaps
from halfseen.moments.gaps.joint_counts import pair_counts
from halfseen.moments.moments import Moments
from halfseen.moments.pair_sums import PairSums
from halfseen.moments.signal import Signal
from halfseen.moments.whitening import Whitening, whiten
from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Rows


class SecondMoment(Protocol):
    """A route to the second moment of a table with gaps."""

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        """Where the gaps are."""

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        """Moments about the means, or about zero."""

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

    def check(self, moments: Moments, rows: Rows, rank: int, n_components: int) -> None:
        """Refuse moments of less than the ``rank`` that the components need."""
        check_rank(moments, rows.names, rank, n_components)

    def whiten(self, signal: Signal, weights: Array, rank: int) -> Whitening:
        """Whiten a weighted signal to ``rank`` dimensions, from all its eigenvalues."""
        return whiten(signal.matrix, weights, rank)
