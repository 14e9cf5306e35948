"""What a model makes of the second moment: the part the latent variables explain."""

from dataclasses import dataclass
from typing import Any

from halfseen.rows.arrays import Array


@dataclass(frozen=True, eq=False)
class Signal:
    """The low-rank part of the second moment, ``S = Σ_k s_k a_k ⊗ a_k``, and the rest."""

    matrix: Any  # (d, d)    S, unweighted: an array, or what multiplies like one
    noise: Array  # (d,)     ψ, the variance of each feature given the latent variables
    null: Array  # (d, m)    directions along which the latent variables do not vary, or none
    unit: Array  # (d,)      the scale on which features are alike before they are weighted

    @property
    def variance(self) -> Array:
        """The diagonal of S; (d,)."""
        diagonal: Array = self.matrix.diagonal()
        return diagonal
