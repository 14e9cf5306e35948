"""Sums of each bin of rows, from which those of any bootstrap replicate follow without the rows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from halfseen.moments.origin_sums import OriginSums
from halfseen.moments.pairs import PairSums
from halfseen.moments.thirds.third import ThirdSums
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.feature_sums import FeatureSums
from halfseen.rows.rows import Block

Summarise = Callable[[Block], OriginSums]


@dataclass(frozen=True, eq=False)
class BinSums:
    """Counts and sums over features, pairs and perhaps triples of them, for each bin.

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

    def __add__(self, other: Self) -> Self:
        return type(self)(self.whole + other.whole, self.linear + other.linear)

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        return len(self.linear)

    def __iadd__(self, other: Self) -> Self:
        np.add(self.linear, other.linear, out=self.linear)
        return type(self)(self.whole + other.whole, self.linear)

    def reweighted(self, weights: Array) -> OriginSums:
        """The sums of a replicate in which bins count ``weights`` (g,) times."""
        return _laid_out(weights @ self.linear, self.whole)

    def nudged(self, step: float) -> Iterator[OriginSums]:
        """The sums if one bin counts ``step`` more than once, for each bin in turn."""
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
