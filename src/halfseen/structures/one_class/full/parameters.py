"""Parameters of mixtures of normals with any covariance."""

from dataclasses import dataclass

import numpy as np

from halfseen.method.learned import learned
from halfseen.method.scale import ANY, DEFINITE, SHARE
from halfseen.rows.arrays import Array
from halfseen.structures.one_class.fences import Fenced


@dataclass(frozen=True, eq=False)
class FullParameters(Fenced):
    """``x | component k ~ N(μ_k, Σ_k)`` with probability π_k."""

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # μ
    covariances: Array = learned("covariances_", ("de", "kde"), DEFINITE, 0.0)  # Σ, (k, d, d)

    @property
    def variances(self) -> Array:
        """Of each feature in each component; (k, d)."""
        return np.diagonal(self.covariances, axis1=1, axis2=2)
