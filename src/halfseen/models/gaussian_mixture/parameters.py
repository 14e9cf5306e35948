"""Parameters of a mixture with independent normal noise."""

from dataclasses import dataclass, replace
from typing import Any, Self

from halfseen.rows.arrays import Array, Mask


@dataclass(frozen=True, eq=False)
class MixtureParameters:
    """``x | component k ~ N(a_k, diag(σ²_k))`` with probability π_k."""

    weights: Array  # (k,)      π
    means: Array  # (k, d)      a_k in rows
    variances: Array  # (k, d)  σ²

    def select(self, features: Mask) -> Self:
        """The same mixture seen through only some of the features."""
        return replace(self, means=self.means[:, features], variances=self.variances[:, features])

    def reordered(self, order: Any) -> Self:
        """The same mixture with its components in another order."""
        return replace(
            self,
            weights=self.weights[order],
            means=self.means[order],
            variances=self.variances[order],
        )
