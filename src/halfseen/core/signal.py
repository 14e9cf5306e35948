"""What a model makes of the second moment: the part the latent variables explain."""

from dataclasses import dataclass

import numpy as np

from halfseen.core.arrays import Array


@dataclass(frozen=True, eq=False)
class Signal:
    """The low-rank part of the second moment, ``S = Σ_k s_k a_k ⊗ a_k``, and the rest."""

    matrix: Array  # (d, d)  S, unweighted
    noise: Array  # (d,)     ψ, the variance of each feature given the latent variables
    null: Array  # (d, m)    directions along which the latent variables do not vary, or none
    unit: Array  # (d,)      the scale on which features are alike before they are weighted

    @property
    def variance(self) -> Array:
        """The diagonal of S; (d,)."""
        return np.diag(self.matrix)
