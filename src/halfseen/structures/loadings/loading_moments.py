"""Parameters of a model in which topics' loadings add up to Poisson rates."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from halfseen.rows.arrays import Array, Mask

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
