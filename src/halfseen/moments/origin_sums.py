"""Sums over features, pairs and triples about an origin near the mean, which replicates share.

Far from the mean available-case moments of these are poor; :mod:`halfseen.moments.moment_sums` has
those of rows that are not at hand, which are exact about any point.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from halfseen.moments.gaps.joint_gaps import Gaps, JointGaps
from halfseen.moments.magnitudes import LOST
from halfseen.moments.moments import Moments
from halfseen.moments.pairs import AllPairs, PairSums, check_pairs
from halfseen.moments.tensors import matrix_and_vector
from halfseen.moments.thirds import packed
from halfseen.moments.thirds.third import (
    Probe,
    ProjectedThird,
    ThirdMoment,
    ThirdSums,
    alike_along,
    project_estimates,
)
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Block, Rows


@dataclass(frozen=True, eq=False)
class OriginSums:
    """Sums over all features, pairs and triples of them; sums about the same origin add."""

    origin: Array  # (d,)
    features: FeatureSums
    pairs: PairSums
    thirds: ThirdSums

    @classmethod
    def about(cls, origin: Array) -> Callable[[Block], "OriginSums"]:
        """The function that sums a block about ``origin`` (d,)."""
        pairs, thirds = PairSums.about(origin), ThirdSums.about(origin)

        def summarise(block: Block) -> OriginSums:
            return cls(origin, FeatureSums.of(block), pairs(block), thirds(block))

        return summarise

    @classmethod
    def none(cls, origin: Array) -> "OriginSums":
        """The sums of no rows."""
        return cls.about(origin)(Block.from_table(np.empty((0, len(origin)))))

    def __add__(self, other: Self) -> Self:
        return replace(
            self,
            features=self.features + other.features,
            pairs=self.pairs + other.pairs,
            thirds=self.thirds + other.thirds,
        )

    def select(self, features: Mask) -> Self:
        """The sums of only some of the features."""
        chosen = np.ix_(features, features)
        return replace(
            self,
            origin=self.origin[features],
            features=self.features.select(features),
            pairs=PairSums(self.pairs.count[chosen], self.pairs.total[chosen]),
            thirds=ThirdSums(
                packed.select(self.thirds.count, features),
                packed.select(self.thirds.total, features),
            ),
        )

    @property
    def gaps(self) -> JointGaps:
        """Where the gaps are."""
        return JointGaps(self.pairs.count, self.features.n_rows)

    @property
    def varies(self) -> Mask:
        """Whether rounding leaves anything of each feature's variance; (d,)."""
        with np.errstate(divide="ignore", invalid="ignore"):  # of what is never observed: nothing
            squares = np.diagonal(self.pairs.total) / np.diagonal(self.pairs.count)
            variance = squares - (self.features.mean - self.origin) ** 2
        varies: Mask = variance > LOST * squares
        return varies

    @property
    def about_origin(self) -> Moments:
        """Moments about the origin of the stream."""
        second = self.pairs.total / self.pairs.count
        return Moments(self.features.mean, self.origin, False, second, self.gaps)

    def moments(self, centred: bool) -> Moments:
        """Moments about the mean, or about zero."""
        mean, covariance = self.features.mean, self.about_origin.covariance
        if centred:
            return Moments(mean, mean, True, covariance, self.gaps)
        return Moments(
            mean, np.zeros_like(mean), False, covariance + np.outer(mean, mean), self.gaps
        )


@dataclass(frozen=True, eq=False)
class OriginSecond(AllPairs):
    """The route to second moments of rows that are gone."""

    sums: OriginSums

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        """Where the gaps were."""
        return self.sums.gaps

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        """All of them: without rows nothing could bring one back."""
        return np.ones(len(features.count), dtype=bool)

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        """Moments about the means, or about zero."""
        check_pairs(self.sums.pairs.count, rows.names)
        return self.sums.moments(centred)


def origin_third(sums: OriginSums) -> ThirdMoment:
    """The route to third moments of rows that are gone."""

    def route(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
        basis, stream = probe.basis, sums.about_origin
        tensor = project_estimates(sums.thirds, stream, basis)
        # From the origin of the stream to the mean, and from there to where it is wanted.
        covariance = basis.T @ stream.covariance @ basis
        tensor = tensor - _moved(covariance, basis.T @ stream.offset)
        tensor = tensor + _moved(covariance, basis.T @ moments.offset)
        return ProjectedThird(
            tensor,
            "explicit",
            alike_along(probe.whitening),
            int(np.count_nonzero(sums.thirds.count == 0)),
            "rows of a stream are seen only once",
        )

    return route


def _moved(covariance: Array, by: Array) -> Array:
    """What a third moment gains when the origin moves away from the mean ``by`` (m,)."""
    return matrix_and_vector(covariance, by) + by[:, None, None] * by[:, None] * by
