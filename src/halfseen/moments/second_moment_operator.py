"""The second moment of many columns, as an operator that is never formed.

No array of all pairs of features is ever formed. Features that are observed in exactly the same
rows make a *part*, and parts are few: for any two the joint count N_gh is known, so that

    (C V)_g = Σ_h X_g' (X_h V_h) / N_gh

is the available-case second moment itself, however gaps of parts depend on each other. Features
with gaps of their own are too many for joint counts. They make one more part, in which entries are
divided by their probability of being observed, p_i, and the diagonal, divided once too often, is
put right.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.formatting import features as named
from halfseen.data.messages import setting
from halfseen.data.products import Parts
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.moments.missing_patterns import Gaps, Panels, dependence_of_gaps, rows_behind
from halfseen.moments.second_moment import Moments
from halfseen.moments.whitening import Signal, Whitening, leading_eigenpairs, whitening_from

MOST_ALONE = 24
"""Up to so many features with gaps of their own have parts, and joint counts, of their own."""

TESTED = 512
"""Of the other features with gaps of their own, so many are tested for independence."""

N_KEYS = 4


@dataclass(frozen=True, eq=False)
class MaskKeys(Sums):
    """A fingerprint of each feature's mask, and its sum of squares about the mean.

    Every row has a few random whole numbers; a feature's fingerprint is their sums over the rows in
    which it is observed, exact in floating point. Equal masks have equal fingerprints, and those of
    different ones differ but for one chance in 2^20 a number.
    """

    keys: Array  # (d, 4)
    squares: Array  # (d,)  Σ (x - μ)², by weight

    @classmethod
    def about(cls, mean: Array) -> Callable[[Block], "MaskKeys"]:
        """The function that sums a block about ``mean`` (d,)."""

        def summarise(block: Block) -> MaskKeys:
            random = np.random.default_rng([2026, block.start])
            drawn = random.integers(1, 2**20, size=(len(block), N_KEYS)).astype(float)
            every = np.ones(len(mean), dtype=bool)
            ones = block.weighed(np.ones((len(block), 1)))
            return cls(
                block.presence().back(drawn),
                block.deviations(mean).squares(ones, every)[:, 0],
            )

        return summarise


@dataclass(frozen=True, eq=False)
class PartGaps:
    """Joint counts of a few groups of features with equal masks.

    Features with gaps of their own, if they are many, make a crowd in the last part.
    """

    all_pairs: ClassVar[bool] = False
    n_rows: float
    own: Array  # (d,)
    groups: Panels
    parts: Parts
    firsts: NDArray[np.intp]  # (g,)  a feature of each part with equal masks
    joint: Array  # (g + a, g + a)    joint counts of those and of some in the last part

    @property
    def count(self) -> Array:
        """Joint counts of the parts with equal masks; (g, g)."""
        return self.joint[: len(self.firsts), : len(self.firsts)]

    @property
    def exact(self) -> bool:
        return self.parts.n == len(self.count)

    def counted(self, matrix: "ThinSecond", vectors: Array) -> Array:
        return replace(matrix, pair_weights=matrix.pair_weights * self.count) @ vectors

    @property
    def rows_behind(self) -> float:
        return rows_behind(self.own, self.n_rows, self.groups)

    @property
    def dependence(self) -> float:
        return dependence_of_gaps(self.joint, self.rows_behind)

    @property
    def dependence_of_features(self) -> float:
        """The same for single features: √N if two with gaps have equal masks."""
        together = float(np.sqrt(self.n_rows)) if self.groups.together else 0.0
        return max(self.dependence, together)

    def rarest(self) -> tuple[int, int, float]:
        i = int(np.argmin(self.own))
        if not self.count.size or self.own[i] < self.count.min():
            return i, i, float(self.own[i])
        g, h = np.unravel_index(np.argmin(self.count), self.count.shape)
        return int(self.firsts[g]), int(self.firsts[h]), float(self.count[g, h])


@dataclass(frozen=True, eq=False)
class ThinSecond:
    """The second central moment as an operator: it multiplies and has a diagonal."""

    rows: Rows
    mean: Array  # (d,)
    parts: Parts
    pair_weights: Array  # (p, p)  what products of two parts are multiplied with
    scale: Array  # (d,)           1, or about 1/p_i for features with gaps of their own
    squares: Array  # (d,)         Σ (x - μ)²
    own: Array  # (d,)
    less: Array  # (d,)            what is taken from the diagonal

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (d, d)."""
        return len(self.mean), len(self.mean)

    def diagonal(self) -> Array:
        """Variances, less the noise that was subtracted; (d,)."""
        return self.squares / (self.own - 1) - self.less

    def __matmul__(self, vectors: Array) -> Array:
        scaled = np.ascontiguousarray(self.scale[:, None] * vectors)  # once, not for each block
        mean, parts, pair_weights = self.mean, self.parts, self.pair_weights  # and not the rows

        def summarise(block: Block) -> Array:
            weights = block.row_weights()
            return block.deviations(mean).there_and_back(scaled, parts, pair_weights, weights)

        product: Array = self.scale[:, None] * self.rows.accumulate(summarise)
        once_too_often = self.scale**2 * self.squares * self._crowd_weight
        diagonal = np.where(self.scale == 1, 0.0, once_too_often - self.squares / (self.own - 1))
        return product - (diagonal + self.less)[:, None] * vectors

    @property
    def _crowd_weight(self) -> float:
        return float(self.pair_weights[-1, -1])

    def __sub__(self, diagonal: Any) -> Self:
        return replace(self, less=self.less + diagonal.diagonal())


class ThinProducts:
    """Second moments of many features without a d × d array."""

    def gaps(self, rows: Rows, features: FeatureSums) -> Gaps:
        """Where the gaps are, from fingerprints of the features' masks."""
        return self._gaps(rows, features)[0]

    def moments(self, rows: Rows, features: FeatureSums, centred: bool) -> Moments:
        if not centred:
            raise NotImplementedError("moments of many features are taken about the mean")
        gaps, squares = self._gaps(rows, features)
        _check_parts(gaps, rows)
        mean = features.mean
        fraction = gaps.own / gaps.rows_behind
        crowded = gaps.parts.labels == len(gaps.count)
        second = ThinSecond(
            rows,
            mean,
            gaps.parts,
            pair_weights=_pair_weights(gaps),
            # About the means, sums over N_i rows are too small by 1 - 1/N_i.
            scale=np.where(crowded & (fraction < 1), 1 / (fraction * (1 - 1 / gaps.own)), 1.0),
            squares=squares,
            own=gaps.own,
            less=np.zeros_like(mean),
        )
        return Moments(mean, mean, True, second, gaps)

    def meeting(self, rows: Rows, features: FeatureSums) -> Mask:
        """All of them: parts that never meet are refused with the moments."""
        return np.ones(len(features.count), dtype=bool)

    def rank(self, moments: Moments) -> int:
        """As many dimensions as there are features, for all that is known."""
        return len(moments.mean)

    def check(self, moments: Moments, rows: Rows, rank: int, n_components: int) -> None:
        """Many features span enough; eigenvalues that are not positive are warned of later."""

    def whiten(self, signal: Signal, weights: Array, rank: int) -> Whitening:
        values, vectors = leading_eigenpairs(signal.matrix, weights, rank)
        return whitening_from(values, vectors, weights, rank, signal.noise)

    def _gaps(self, rows: Rows, features: FeatureSums) -> tuple[PartGaps, Array]:
        found = rows.accumulate(MaskKeys.about(features.mean))
        parts, firsts, groups = _sorted(found.keys, features.observed_fraction == 1)
        crowd = np.flatnonzero(parts.labels == len(firsts))[:TESTED]
        chosen = np.concatenate([firsts, crowd])

        def summarise(block: Block) -> Array:
            seen = block.present(chosen).astype(float)
            return seen.T @ block.weighed(seen)

        count = rows.accumulate(summarise)
        return PartGaps(
            features.n_rows, features.count, groups, parts, firsts, count
        ), found.squares


def _check_parts(gaps: PartGaps, rows: Rows) -> None:
    apart = np.argwhere(np.triu(gaps.count == 0))
    if len(apart):
        raise DataError(
            f"{named(rows.names, gaps.firsts[apart[0]])} are never observed in the same row, so "
            "their covariance cannot be estimated. Drop one of them and those observed with it, "
            "add rows that hold both, or use "
            + setting(method="partial")
            + ", which uses the complete features only."
        )


def _sorted(keys: Array, complete: Mask) -> tuple[Parts, NDArray[np.intp], Panels]:
    """Groups of features with equal masks, and a representative of each.

    The last part holds the features with gaps of their own, if there are many.
    """
    _, first, label, size = np.unique(
        keys, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    alone = (size[label] == 1) & ~complete
    is_crowd = bool(np.count_nonzero(alone) > MOST_ALONE)
    shared = np.sort(first[~alone[first]] if is_crowd else first)
    place = np.full(len(size), len(shared))
    place[label[shared]] = np.arange(len(shared))
    parts = Parts(place[label], int(len(shared) + is_crowd))
    together = [label == label[f] for f in shared if not (complete[f] or alone[f])]
    return parts, shared, Panels(alone, tuple(together))


def _pair_weights(gaps: PartGaps) -> Array:
    """One over the rows behind each product of two parts, less what the means take; (p, p)."""
    own = gaps.count.diagonal()
    inverse = 1 / own
    bias = 1 - np.add.outer(inverse, inverse) + gaps.count * np.outer(inverse, inverse)
    weights = 1 / (gaps.count * bias)
    if gaps.parts.n == len(own):
        return weights
    # 1 - 1/N_i - 1/N_j + 1/N is about (1 - 1/N_i)(1 - 1/N_j) over 1 - 1/N; a feature of the crowd
    # brings its own factor.
    whole = 1 - 1 / gaps.rows_behind
    to_crowd = whole * inverse / (1 - inverse)
    return np.block([[weights, to_crowd[:, None]], [to_crowd, whole / gaps.rows_behind]])


@dataclass(frozen=True, eq=False)
class Outer:
    """The outer product ``u v'`` as an operator."""

    left: Array  # (d,)  u
    right: Array  # (d,) v

    __array_ufunc__ = None  # arrays leave products with it to it

    def __rmul__(self, matrix: Array) -> Array:
        return matrix * np.outer(self.left, self.right)

    def __matmul__(self, vectors: Array) -> Array:
        return np.outer(self.left, self.right @ vectors)
