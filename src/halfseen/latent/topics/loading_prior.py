"""How loadings on topics are distributed, of every model whose counts are Poisson given them.

Loadings ``α_k = τ θ_k`` are a total ``τ ~ Gamma(shape g, rate b)`` times shares
``θ ~ Dirichlet(c)``, and counts ``x_d ~ Poisson(Σ_k α_k a_kd)``. With ``g = Σ c_k`` loadings are
independent gammas; otherwise their density has the factor ``τ^(g - Σ c_k)`` beside those gammas'.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.rows import Block


class LoadingPrior:
    """What is known of loadings before a row is seen, and how counts arise from them."""

    topics: Array  # (k, d)  a_k in rows
    shapes: Array  # (k,)    c, of the gammas, or of the shares
    rate: float  # b

    @property
    def extra(self) -> float:
        """``g - Σ c_k``, zero if loadings are independent."""
        return 0.0


class Rest(NamedTuple):
    """What rows count beyond what was recorded, if their totals are known."""

    counts: Array  # (n,)
    shares: Array  # (n, k)  of each topic that lies in features which the row does not have

    @classmethod
    def none(cls, n_rows: int, n_topics: int) -> "Rest":
        """Nothing is known of any rest."""
        return cls(np.zeros(n_rows), np.zeros((n_rows, n_topics)))


def unrecorded(block: Block, topics: Array, totals: Array) -> Rest:
    """The rest of rows that count ``totals`` (n,) in all; rows without gaps have none."""
    seen = block.presence().onto(np.ascontiguousarray(topics.T))
    shares = np.ascontiguousarray(np.maximum(topics.sum(axis=1) - seen, 0.0))
    left = np.maximum(totals - block.nonzeros().totals(), 0.0)
    return Rest(np.where(shares.max(axis=1, initial=0.0) > 0, left, 0.0), shares)


def exposures(block: Block, law: LoadingPrior, rest: Rest | None) -> Array:
    """``b + Σ_d a_kd`` over what is observed, or over everything if the rest is known; (n, k)."""
    seen = law.rate + block.presence().onto(law.topics.T)
    return seen if rest is None else seen + rest.shares


def loading_means(law: LoadingPrior) -> Array:
    """``E[α_k] = g/b · c_k/Σ c``; (k,)."""
    means: Array = (1 + law.extra / law.shapes.sum()) * law.shapes / law.rate
    return means


def variance_along(law: LoadingPrior, directions: Array) -> Array:
    """``var(Σ_k w_k α_k)`` for directions w in rows (n, k); (n,).

    Of independent gammas it is ``Σ w_k² c_k/b²``; ``var(w·α) = E[τ²] var(w·θ) + (w·E θ)² var(τ)``.
    """
    total, total_shape = law.shapes.sum(), law.shapes.sum() + law.extra
    mean = law.shapes / total
    along, square = directions @ mean, directions**2 @ mean
    of_shares = (square - along**2) / (total + 1)
    found: Array = total_shape * ((total_shape + 1) * of_shares + along**2) / law.rate**2
    return found


MOST_SHAPE = 1e8
"""Of loadings: with a larger one they vary by less than a hundredth of a percent, as if not."""


def some_variance(means: Array, variances: Array) -> Array:
    """The variances of loadings (k,), or the least that gammas of these means may have."""
    return np.maximum(variances, means**2 / MOST_SHAPE)


@dataclass(frozen=True, eq=False)
class TopicParameters:
    """``x_d ~ Poisson(Σ_k α_k a_kd)``, loadings α_k independent with known mean and variance."""

    topics: Array  # (k, d)  a_k in rows
    means: Array  # (k,)     E[α_k]
    variances: Array  # (k,) var(α_k)

    def select(self, features: Mask) -> Self:
        """The same model seen through only some of the features."""
        return replace(self, topics=self.topics[:, features])

    def reordered(self, order: Any) -> Self:
        """The same model with its topics in another order."""
        return type(self)(self.topics[order], self.means[order], self.variances[order])

    @property
    def precision(self) -> Array:
        """The inverse of the loadings' covariance; (k, k)."""
        return np.diag(1 / self.variances)

    def normalised(self) -> Self:
        """The same model with topics that sum to one: loadings then count words."""
        lengths = self.topics.sum(axis=1)
        return replace(
            self,
            topics=self.topics / lengths[:, None],
            means=self.means * lengths,
            variances=self.variances * lengths**2,
        )

    @property
    def shapes(self) -> Array:
        """Shapes ``c_k`` of gamma loadings with these means and variances; (k,)."""
        return self.means**2 / some_variance(self.means, self.variances)

    @property
    def rate(self) -> float:
        """The common rate ``b`` that gives these shapes the right total mean."""
        return float(self.shapes.sum() / self.means.sum())


NEGLIGIBLE_SHARE = 1e-9
"""Of the share that a feature has in all counts: as good as no share in a topic."""


def non_negative_shares(scaled: Array, mean: Array) -> Array:
    """Multiples of topics in columns (d, k), with no share below zero.

    Noise can leave a feature with no share in any topic, though it is counted: it is given an even
    one by its mean (d,), or its counts would be impossible. What rounding leaves of none is none.
    """
    scaled = np.maximum(scaled, 0.0)
    even = np.outer(mean / mean.sum(), scaled.sum(axis=0))
    lost = (scaled <= NEGLIGIBLE_SHARE * even).all(axis=1)
    scaled[lost] = even[lost]
    return scaled


def normalised_topics(scaled: Array, mean: Array) -> Array:
    """The same as topics: columns of sum one; one of nothing is like the mean."""
    scaled = non_negative_shares(scaled, mean)
    empty = ~scaled.any(axis=0)
    scaled[:, empty] = mean[:, None]
    topics: Array = scaled / scaled.sum(axis=0)
    return topics
