"""Parameters of mixtures of normals whose columns share a few factors."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.method.learned import SHOWN, learned
from halfseen.method.scale import ANY, POSITIVE, SHARE
from halfseen.rows.arrays import Array
from halfseen.structures.one_class.fences import Fenced

FOLLOWS: Any = None


@dataclass(frozen=True, eq=False)
class FactorParameters(Fenced):
    """``x = μ_k + s_k∘(Λ z + e)`` with probability π_k, ``z ~ N(0, I)``, ``e ~ N(0, diag ψ)``.

    s are standard deviations: rows of Λ and ψ, which all components share, have
    ``|λ_d|² + ψ_d = 1``.
    """

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # μ
    spreads: Array = learned("standard_deviations_", "kd", POSITIVE, 0.0)  # s
    pattern: Array = learned("shared_loadings_", "dq", ANY, 0.0)  # Λ
    loadings: Array = learned("loadings_", "kdq", ANY, 0.0, SHOWN, default=FOLLOWS)  # s Λ
    noise: Array = learned("noise_variances_", "kd", POSITIVE, 0.0, SHOWN, default=FOLLOWS)  # s² ψ

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "loadings", self.spreads[:, :, None] * self.pattern)
        object.__setattr__(self, "noise", self.spreads**2 * self.own)

    @property
    def own(self) -> Array:
        """``ψ``: what of a feature's variance no factor explains; (d,)."""
        left: Array = 1 - np.sum(self.pattern**2, axis=1)
        return left

    @property
    def variances(self) -> Array:
        """Of each feature in each component; (k, d)."""
        return self.spreads**2
