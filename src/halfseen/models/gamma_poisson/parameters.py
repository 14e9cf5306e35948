"""Parameters of the gamma-Poisson model."""

from dataclasses import dataclass, replace
from typing import Self

from halfseen.models.gamma_poisson.loading_moments import TopicParameters
from halfseen.rows.arrays import Array, Mask


@dataclass(frozen=True, eq=False)
class GammaPoissonParameters:
    """``x_d ~ Poisson(Σ_k α_k a_kd)`` with ``α_k ~ Gamma(shape c_k, rate b)``."""

    topics: Array  # (k, d)  a_k in rows
    shapes: Array  # (k,)    c
    rate: float  # b

    @classmethod
    def matching(cls, topics: TopicParameters) -> Self:
        """Topics of sum one, with gamma loadings of the given means and variances."""
        normal = topics.normalised()
        return cls(normal.topics, normal.shapes, normal.rate)

    def loading_moments(self) -> TopicParameters:
        """The same topics with the means and variances of their loadings."""
        return TopicParameters(self.topics, self.shapes / self.rate, self.shapes / self.rate**2)

    def select(self, features: Mask) -> Self:
        """The same model seen through only some of the features."""
        return replace(self, topics=self.topics[:, features])
