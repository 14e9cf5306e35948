"""Sums of moments that bootstrap replicates share.

Far from the mean available-case moments of these are poor; :mod:`halfseen.moments.moment_sums` has
those of rows that are not at hand, which are exact about any point.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import SHARED, LargeSums, Sums
from halfseen.moments import symmetric_tensors
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.second_moment import Moments, PairsOfSums, PairSums, check_pairs
from halfseen.moments.survey import LOST
from halfseen.moments.symmetric_tensors import matrix_and_vector
from halfseen.moments.third_moment import (
    Probe,
    ProjectedThird,
    ThirdMoment,
    ThirdSums,
    alike_along,
    project_estimates,
)


@dataclass(frozen=True, eq=False)
class OriginSums(Sums):
    """Sums over features, pairs and triples about an origin."""

    origin: Array = field(metadata=SHARED)  # (d,)
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

    def select(self, features: Mask) -> Self:
        chosen = np.ix_(features, features)
        return replace(
            self,
            origin=self.origin[features],
            features=self.features.select(features),
            pairs=PairSums(self.pairs.count[chosen], self.pairs.total[chosen]),
            thirds=ThirdSums(
                symmetric_tensors.select(self.thirds.count, features),
                symmetric_tensors.select(self.thirds.total, features),
            ),
        )

    @property
    def gaps(self) -> JointGaps:
        return JointGaps(self.pairs.count, self.features.n_rows)

    @property
    def varies(self) -> Mask:
        """Whether the variance of each feature exceeds rounding error; (d,)."""
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
        mean, covariance = self.features.mean, self.about_origin.covariance
        if centred:
            return Moments(mean, mean, True, covariance, self.gaps)
        return Moments(
            mean, np.zeros_like(mean), False, covariance + np.outer(mean, mean), self.gaps
        )


@dataclass(frozen=True, eq=False)
class OriginSecond(PairsOfSums):
    """Second moments of rows that are gone, from their sums."""

    sums: OriginSums

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        check_pairs(self.sums.pairs.count, rows.names)
        return self.sums.moments(centred)


def origin_third(sums: OriginSums) -> ThirdMoment:
    """Third moments of rows that are gone, from their sums."""

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
    """The change of a third moment if the origin moves ``by`` (m,) from the mean."""
    return matrix_and_vector(covariance, by) + by[:, None, None] * by[:, None] * by


Summarise = Callable[[Block], OriginSums]


@dataclass(frozen=True, eq=False)
class BinSums(LargeSums):
    """Sums over features, pairs and triples, by bin.

    They are linear in the rows, so a replicate in which bin g counts w_g times has the sums
    ``Σ_g w_g sums_g``: one product of matrices for all replicates.
    """

    whole: OriginSums  # of all rows: ranges, and the shapes of everything
    linear: Array  # (g, l)  what adds up, laid flat

    @classmethod
    def pairs(cls, origin: Array, bins: Bins) -> Callable[[Block], "BinSums"]:
        """The function that sums features and pairs of a block about ``origin`` (d,)."""
        pairs = PairSums.about(origin)
        nothing = ThirdSums(np.empty(0), np.empty(0))

        def summarise(block: Block) -> OriginSums:
            return OriginSums(origin, FeatureSums.of(block), pairs(block), nothing)

        return _by_bin(summarise, bins)

    @classmethod
    def triples(cls, origin: Array, bins: Bins) -> Callable[[Block], "BinSums"]:
        """The function that sums triples too."""
        return _by_bin(OriginSums.about(origin), bins)

    @property
    def n_bins(self) -> int:
        return len(self.linear)

    def reweighted(self, weights: Array) -> OriginSums:
        """The sums of a replicate in which bins count ``weights`` (g,) times."""
        return _laid_out(weights @ self.linear, self.whole)

    def nudged(self, step: float) -> Iterator[OriginSums]:
        """The sums with the weight of one bin raised by ``step``, for each bin in turn."""
        total = self.linear.sum(axis=0)
        for one in self.linear:
            yield _laid_out(total + step * one, self.whole)


def _by_bin(summarise: Summarise, bins: Bins) -> Callable[[Block], BinSums]:
    def by_bin(block: Block) -> BinSums:
        whole = summarise(block)
        linear = np.zeros((bins.n, len(_laid_flat(whole))))
        for bin_, part in bins.parts(block):
            linear[bin_] = _laid_flat(summarise(part))
        return BinSums(whole, linear)

    return by_bin


def _parts(sums: OriginSums) -> list[Array]:
    features = sums.features
    return [
        np.array([features.n_rows]),
        features.count,
        features.total,
        sums.pairs.count,
        sums.pairs.total,
        sums.thirds.count,
        sums.thirds.total,
    ]


def _laid_flat(sums: OriginSums) -> Array:
    return np.concatenate([part.ravel() for part in _parts(sums)])


def _laid_out(flat: Array, like: OriginSums) -> OriginSums:
    parts = _parts(like)
    cuts = np.cumsum([part.size for part in parts])[:-1]
    pieces = np.split(flat, cuts)
    rows, count, total, pair_count, pair_total, third_count, third_total = (
        piece.reshape(part.shape) for piece, part in zip(pieces, parts, strict=True)
    )
    return replace(
        like,
        features=replace(like.features, n_rows=float(rows[0]), count=count, total=total),
        pairs=PairSums(pair_count, pair_total),
        thirds=ThirdSums(third_count, third_total),
    )


STEP = 1e-4
"""How much bins are reweighted to see how a statistic moves: little, yet far above rounding."""


@dataclass(frozen=True, eq=False)
class Influence:
    """A statistic and its derivatives with respect to the weights of bins.

    The infinitesimal jackknife (Jaeckel 1972): bins being independent, the variance of the
    statistic is the sum of their squared influences.
    """

    value: Array  # (...)
    of_bins: Array  # (g, ...)

    @classmethod
    def on(cls, statistic: Callable[[OriginSums], Array], sums: BinSums) -> "Influence":
        """Differentiate a statistic of the sums of all bins."""
        value = np.asarray(statistic(sums.reweighted(np.ones(sums.n_bins))))
        moved = [np.asarray(statistic(replicate)) - value for replicate in sums.nudged(STEP)]
        return cls(value, np.array(moved) / STEP)

    @property
    def error(self) -> Array:
        """The standard error; (...)."""
        error: Array = np.sqrt(np.sum(self.of_bins**2, axis=0))
        return error

    def errors(self, multipliers: Array) -> Array:
        """Random draws of the statistic's error, for ``multipliers`` (b, g); (b, ...).

        The multiplier bootstrap, multipliers being of mean 0 and variance 1.
        """
        errors: Array = np.tensordot(multipliers, self.of_bins, axes=1)
        return errors
