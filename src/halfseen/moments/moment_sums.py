"""Sums from which moments about any point follow exactly.

With gaps, a moment about the mean cannot be had from one about another origin alone: which rows a
product is of depends on what is observed. So the sums are of products of *presence* m and
deviations z together,

    u = (m_1, …, m_d, z_1, …, z_d),  z = m∘(x - origin)/unit,    Σ u⊗u  and  Σ u⊗u⊗u,

of which those about a point a away (in units) follow without any row: z - a∘m is linear in u.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import NumericalDataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import quoted
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import ALL, HIGHEST, LOWEST, SHARED, Sums
from halfseen.moments import symmetric_tensors
from halfseen.moments.missing_patterns import JointGaps
from halfseen.moments.second_moment import Moments, PairsOfSums, PairSums, check_pairs
from halfseen.moments.survey import LOST
from halfseen.moments.symmetric_tensors import Indices
from halfseen.moments.third_moment import (
    Probe,
    ProjectedThird,
    ThirdMoment,
    ThirdSums,
    alike_along,
    project_estimates,
)

REASON = "sums of rows that are not at hand"


@dataclass(frozen=True, eq=False)
class MomentSums(Sums):
    """Sums of products of presence and deviations, from which all moments follow."""

    origin: Array = field(metadata=SHARED)  # (d,)
    unit: Array = field(metadata=SHARED)  # (d,)  of deviations
    n_rows: float  # rows with at least one observed entry, by weight
    n_empty: int  # rows with none, which say nothing
    minimum: Array = field(metadata=LOWEST)  # (d,)  +inf where nothing is observed
    maximum: Array = field(metadata=HIGHEST)  # (d,)  -inf where nothing is observed
    whole: Mask = field(metadata=ALL)  # (d,)  whether every observed value is a whole number
    two_valued: Mask = field(
        metadata=ALL
    )  # (d,)  whether every observed value is the smallest or the largest
    second: Array  # (2d, 2d)  Σ u⊗u
    third: Array  # (2d (2d+1) (2d+2) / 6,)  Σ u⊗u⊗u, packed; none if triples are left for later
    levels: Array  # (l,)    cells with each of the values that are counted, column by column

    @classmethod
    def about(
        cls,
        origin: Array,
        unit: Array | None = None,
        *,
        triples: bool = True,
        values: Sequence[Array] = (),
    ) -> Callable[[Block], "MomentSums"]:
        """The function that sums a block about ``origin`` (d,), with or without ``triples``.

        Where columns hold few ``values`` (one array a column) it counts each of them.
        """
        scale = np.ones_like(origin) if unit is None else unit

        def summarise(block: Block) -> MomentSums:
            seen = FeatureSums.of(block)
            both = np.hstack([block.observed.astype(float), block.about(origin) / scale])
            third = (
                symmetric_tensors.third_products(both, block.weights) if triples else np.empty(0)
            )
            return cls(
                origin,
                scale,
                seen.n_rows,
                seen.n_empty,
                seen.minimum,
                seen.maximum,
                seen.whole,
                seen.two_valued,
                both.T @ block.weighed(both),
                third,
                _counted(block, values),
            )

        return summarise

    @classmethod
    def none(
        cls, origin: Array, unit: Array | None = None, *, triples: bool = True
    ) -> "MomentSums":
        """The sums of no rows."""
        summarise = cls.about(origin, unit, triples=triples)
        return summarise(Block.from_table(np.empty((0, len(origin)))))

    def __add__(self, other: Self) -> Self:
        both = super().__add__(other)
        return replace(both, two_valued=(self.features + other.features).two_valued)

    @property
    def n_features(self) -> int:
        return len(self.origin)

    @property
    def triples(self) -> bool:
        """Whether the sums include triples of features."""
        return bool(self.third.size) or not self.n_features

    @property
    def count(self) -> Array:
        """Joint counts of pairs, by weight; (d, d)."""
        d = self.n_features
        return self.second[:d, :d]

    @property
    def triple_counts(self) -> Array:
        """Joint counts of triples, by weight; packed."""
        d = self.n_features
        entries: Array = self.third[symmetric_tensors.place(2 * d, *symmetric_tensors.triples(d))]
        return entries

    @property
    def features(self) -> FeatureSums:
        count = self.count.diagonal().copy()
        deviations = self._crossed.diagonal() * self.unit
        return FeatureSums(
            self.n_rows,
            self.n_empty,
            count,
            deviations + count * self.origin,
            self.minimum,
            self.maximum,
            self.whole,
            self.two_valued,
            *np.zeros((2, len(count))),
        )

    @property
    def _crossed(self) -> Array:
        """``Σ m_i z_j``; (d, d)."""
        d = self.n_features
        return self.second[:d, d:]

    def select(self, features: Mask) -> Self:
        both = np.r_[features, features]
        return replace(
            self,
            origin=self.origin[features],
            unit=self.unit[features],
            minimum=self.minimum[features],
            maximum=self.maximum[features],
            whole=self.whole[features],
            two_valued=self.two_valued[features],
            second=self.second[np.ix_(both, both)],
            third=symmetric_tensors.select(self.third, both) if self.triples else self.third,
        )

    @property
    def gaps(self) -> JointGaps:
        return JointGaps(self.count, self.n_rows)

    @property
    def varies(self) -> Mask:
        """Whether the variance of each feature exceeds rounding error; (d,)."""
        d = self.n_features
        with np.errstate(divide="ignore", invalid="ignore"):  # of what is never observed: nothing
            squares = self.second.diagonal()[d:] / self.count.diagonal()
            away = self._crossed.diagonal() / self.count.diagonal()
        varies: Mask = squares - away**2 > LOST * squares
        return varies

    def _away(self, point: Array) -> Array:
        """The distance of a point (d,) from the origin, in units; 0 where nothing is observed."""
        away: Array = (point - self.origin) / self.unit
        return np.where(self.count.diagonal() > 0, away, 0.0)

    def pairs(self, point: Array) -> PairSums:
        """Sums over pairs of features of products of deviations from ``point`` (d,)."""
        d, away, crossed = self.n_features, self._away(point), self._crossed
        mixed = away[:, None] * crossed
        total = self.second[d:, d:] - mixed - mixed.T + np.outer(away, away) * self.count
        return PairSums(self.count, total * np.outer(self.unit, self.unit))

    def thirds(self, point: Array) -> ThirdSums:
        """Sums over triples of features of products of deviations from ``point`` (d,)."""
        d, away = self.n_features, self._away(point)
        i, j, k = symmetric_tensors.triples(d)
        a, b, c = away[i], away[j], away[k]

        def at(*places: Indices) -> Array:
            entries: Array = self.third[symmetric_tensors.place(2 * d, *places)]
            return entries

        x, y, z = i + d, j + d, k + d
        count = at(i, j, k)
        total = at(x, y, z) - a * at(i, y, z) - b * at(j, x, z) - c * at(k, x, y)
        total += a * b * at(i, j, z) + a * c * at(i, k, y) + b * c * at(j, k, x) - a * b * c * count
        return ThirdSums(count, total * self.unit[i] * self.unit[j] * self.unit[k])


def _counted(block: Block, values: Sequence[Array]) -> Array:
    """The number of cells with each value of columns, by weight; (l,)."""
    weights = block.row_weights()
    counts = [
        weights @ ((block.values[:, [i]] == own) & block.observed[:, [i]])
        for i, own in enumerate(values)
        if len(own)
    ]
    return np.concatenate([np.empty(0), *counts])


@dataclass(frozen=True, eq=False)
class SummedSecond(PairsOfSums):
    """Second moments of rows that are not available, from their sums."""

    sums: MomentSums

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        check_pairs(self.sums.count, rows.names)
        seen = self.sums.features
        mean = seen.mean
        pairs = self.sums.pairs(mean if centred else np.zeros_like(mean))
        return Moments.of_pairs(seen, mean, pairs, centred)


def summed_third(sums: MomentSums) -> ThirdMoment:
    """Third moments of rows that are not available, from their sums."""

    def route(rows: Rows, moments: Moments, probe: Probe) -> ProjectedThird:
        thirds = sums.thirds(moments.origin)
        tensor = project_estimates(thirds, moments, probe.basis)
        n_unseen = int(np.count_nonzero(thirds.count == 0))
        return ProjectedThird(tensor, "explicit", alike_along(probe.whitening), n_unseen, REASON)

    return route


def check_varies(sums: MomentSums, names: Sequence[str]) -> None:
    """Refuse sums about an origin so far from the mean that rounding hides how features vary."""
    lost = np.flatnonzero(~sums.varies)
    if len(lost):
        raise NumericalDataError(
            f"Rounding hides how {quoted(names, lost)} {'vary' if len(lost) > 1 else 'varies'}: "
            "moments are taken about the means of the first batch, or the origin of a plan, and "
            "all values are alike beside how far they are from those. Begin with a batch that is "
            "typical, or plan an origin amid the values, or leave such columns out.",
            [names[int(i)] for i in lost],
        )
