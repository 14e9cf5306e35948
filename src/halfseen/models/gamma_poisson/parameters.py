"""Parameters of the gamma-Poisson model."""

from dataclasses import dataclass
from typing import Self

from halfseen.method.learned import learned
from halfseen.method.scale import CLIPPED, POSITIVE
from halfseen.rows.arrays import Array
from halfseen.structures.loadings.loading_moments import TopicParameters


@dataclass(frozen=True, eq=False)
class GammaPoissonParameters:
    """``x_d ~ Poisson(Σ_k α_k a_kd)`` with ``α_k ~ Gamma(shape c_k, rate b)``."""

    topics: Array = learned("components_", "kd", CLIPPED, 0.0)  # a_k in rows
    shapes: Array = learned("shapes_", "k", POSITIVE)  # c
    rate: float = learned("rate_", "", POSITIVE)  # b

    @classmethod
    def matching(cls, topics: TopicParameters) -> Self:
        """Topics of sum one, with gamma loadings of the given means and variances."""
        normal = topics.normalised()
        return cls(normal.topics, normal.shapes, normal.rate)

    @property
    def extra(self) -> float:
        """Nothing: loadings are independent."""
        return 0.0
