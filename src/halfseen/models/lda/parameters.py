"""Parameters of latent Dirichlet allocation, and lengths of documents."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.rows import Block, Rows
from halfseen.inference.parameters import BEHIND, CLIPPED, POSITIVE, learned
from halfseen.latent.loadings import MOST_SHAPE, LoadingPrior, TopicParameters


@dataclass(frozen=True, eq=False)
class LdaParameters(LoadingPrior):
    """``θ ~ Dirichlet(α)``, and each item of a row is of feature d with chance ``Σ_k θ_k a_kd``.

    How many items a row has is negative binomial: Poisson, of a mean that is a gamma. Loadings are
    that mean times θ.
    """

    topics: Array = learned("components_", "kd", CLIPPED, 0.0)  # a_k in rows
    shapes: Array = learned("alpha_", "k", POSITIVE)  # α
    length_shape: float = learned("length_shape_", "", POSITIVE, role=BEHIND)
    rate: float = learned("length_rate_", "", POSITIVE, role=BEHIND)

    @property
    def extra(self) -> float:
        return self.length_shape - float(self.shapes.sum())


@dataclass(frozen=True, eq=False)
class LengthLaw:
    """A negative binomial distribution of row lengths."""

    shape: float
    rate: float

    @property
    def mean(self) -> float:
        """The mean length."""
        return self.shape / self.rate

    @property
    def variance(self) -> float:
        """The variance of the gamma distribution."""
        return self.shape / self.rate**2


@dataclass(frozen=True, eq=False)
class ReadTopics(TopicParameters):
    """Topics read off the moments; loadings are shares times lengths."""

    concentration: float
    lengths: LengthLaw

    @classmethod
    def of(cls, topics: Array, shares: Array, concentration: float, lengths: LengthLaw) -> Self:
        """With the means and variances that loadings ``τ θ`` have; ``shares`` (k,) are E[θ]."""
        variances = np.diagonal(_covariance(shares, concentration, lengths)).copy()
        return cls(topics, lengths.mean * shares, variances, concentration, lengths)

    @property
    def precision(self) -> Array:
        """The inverse of the loadings' covariance, which share a total; (k, k)."""
        shares = self.means / self.lengths.mean
        found = np.linalg.inv(_covariance(shares, self.concentration, self.lengths))
        return np.asarray(found, dtype=float)

    def parameters(self) -> LdaParameters:
        normal = self.normalised()
        alpha = self.concentration * normal.means / normal.means.sum()
        return LdaParameters(normal.topics, alpha, self.lengths.shape, self.lengths.rate)


def _covariance(shares: Array, concentration: float, lengths: LengthLaw) -> Array:
    """``E[τ²] cov(θ) + var(τ) E[θ]⊗E[θ]``; (k, k)."""
    square, both = lengths.variance + lengths.mean**2, np.outer(shares, shares)
    of_shares = (np.diag(shares) - both) / (concentration + 1)
    covariance: Array = np.asarray(square * of_shares + lengths.variance * both, dtype=float)
    return covariance


# How many items rows have in all: as is said, as was counted, or as the rest of the table implies.
#
# Where counts are missing, a row that recorded r items has about ``r / Σ μ_d`` over what is
# observed, μ being the shares of the features in everything. Those in turn are counts over lengths,
# so that both are found by turns.

SHORTEST = 3
"""Items of which rows have a third moment."""
HALF = 20.0
"""Rows of so many items count half as much as very long ones, whose own topics blur no less."""
TURNS = 6
LEAST_SEEN = 1e-3
"""Of all that is counted: a row that shows less says nothing of how long it is."""
LEAST_SHAPE, TINY = 0.05, np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Lengths:
    """The length of each row of a block."""

    share: Array  # (d,)  of each feature in all that is counted
    totals: Array | None  # (n,)  of all rows, by number, if they are known

    def seen(self, block: Block) -> Array:
        """The usual share of a row's items that its observed features hold, from 0 to 1; (n,)."""
        seen: Array = block.presence().onto(self.share[:, None])[:, 0] / self.share.sum()
        return seen

    def __call__(self, block: Block) -> Array:
        """Lengths, 0 if nothing is known; (n,)."""
        recorded = block.nonzeros().totals()
        if self.totals is not None:
            return np.maximum(self.totals[block.start : block.start + len(block)], recorded)
        seen = self.seen(block)
        return np.divide(recorded, seen, out=np.zeros(len(block)), where=seen > LEAST_SEEN)

    def shared_out(self, block: Block) -> Block:
        """Rows divided by their lengths, without very short rows."""
        lengths = self(block)
        long = np.flatnonzero(lengths >= SHORTEST)
        lengths = lengths[long]
        part = block.rows(long)
        return part.divided(lengths).with_weights(part.weighed(lengths / (lengths + HALF)))


class LengthSums(NamedTuple):
    """Sums for the distribution of lengths."""

    law: LengthLaw
    inverse: float  # the mean of 1/l, by the weights of rows in the moments
    inverse_square: float
    weight: float  # of the rows that are long enough


def found_lengths(rows: Rows, mean: Array, complete: bool, totals: Array | None) -> Lengths:
    """Estimated lengths of rows, given means (d,) of features."""
    lengths = Lengths(mean / mean.sum(), totals)
    for _ in range(0 if complete else TURNS):

        def summarise(block: Block, lengths: Lengths = lengths) -> Array:
            found = block.weighed(lengths(block))
            ones = block.row_weights()
            counted = block.deviations(np.zeros(block.n_features)).back(ones[:, None])
            return np.hstack([counted, block.presence().back(found[:, None])])

        counted, exposed = rows.accumulate(summarise).T
        share = counted / np.maximum(exposed, np.finfo(float).tiny)
        lengths = Lengths(share / share.sum(), totals)
    return lengths


def length_sums(rows: Rows, lengths: Lengths) -> LengthSums:
    """The law of lengths, and what the moments need of them.

    ``E[l(l-1)]`` is estimated by ``r(r-1)/q²`` where q of what is usually counted was recorded.
    """

    def summarise(block: Block) -> Array:
        found, recorded = lengths(block), block.nonzeros().totals()
        weight = block.row_weights()
        known = found > 0
        share = np.divide(recorded, found, out=np.ones(len(block)), where=known)
        square = np.where(share > 0, recorded * (recorded - 1) / np.maximum(share, 1e-9) ** 2, 0.0)
        if lengths.totals is not None:
            square = found * (found - 1)
        long = found >= SHORTEST
        inverse = np.divide(1.0, found, out=np.zeros(len(block)), where=long)
        moved = weight * long * found / (found + HALF)
        each = (weight, weight * found, weight * square, moved, moved * inverse, moved * inverse**2)
        return np.array([part.sum() for part in each])

    n, total, square, weight, inverse, inverse_square = rows.accumulate(summarise)
    mean = max(total / n, TINY)
    beyond = max(square / n / mean**2 - 1, 1 / MOST_SHAPE)
    shape = max(1 / beyond, LEAST_SHAPE)
    return LengthSums(
        LengthLaw(float(shape), float(shape / mean)),
        float(inverse / max(weight, TINY)),
        float(inverse_square / max(weight, TINY)),
        float(weight),
    )
