"""Turn a mixture's moments into an orthogonally decomposable tensor."""

from typing import Protocol

import numpy as np

from halfseen.data.arrays import Array
from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.moments.symmetric_tensors import Located, bordered, located


class Form(Protocol):
    """How moments about an origin are arranged in a tensor, and components read off it."""

    @property
    def centred(self) -> bool:
        """Whether moments are about the mean."""

    def rank(self, n_components: int) -> int:
        """The rank of the signal of so many components."""

    def tensor(self, third: Array) -> Array:
        """The tensor to decompose, from the whitened third moment (r, r, r)."""

    def locate(self, decomposition: Decomposition, n_rows: float) -> Located:
        """The components, from the tensor's decomposition."""


class Centred:
    """Moments about the mean, bordered with a constant coordinate.

    Put x → (1, x - μ). With b_k = a_k - μ the whitened vectors ``v_k = √π_k (1, F'b_k)`` are
    orthonormal, and of the tensor ``Σ π_k (1, F'b_k)^⊗3`` the entries with a constant are known
    without noise: G_000 = 1, G_00i = 0, G_0ij = δ_ij. Central third moments need no correction for
    a covariance that the components share. The result does not depend on where zero is, and K - 1
    dimensions hold K components.
    """

    centred = True

    def rank(self, n_components: int) -> int:
        return n_components - 1

    def tensor(self, third: Array) -> Array:
        return bordered(third)

    def locate(self, decomposition: Decomposition, n_rows: float) -> Located:
        """``π_k = v_k[0]²`` and ``F'b_k = v_k[1:] / v_k[0]``."""
        return located(decomposition.vectors, n_rows)


class Raw:
    """Moments about zero (Hsu and Kakade 2013), as in Gottesman, Pan and Doshi-Velez.

    ``S = Σ π_k a_k ⊗ a_k`` whitens to ``v_k = √π_k F'a_k`` and ``λ_k = 1/√π_k``. Breaks down when
    the components' means are linearly dependent, as they are in standardised data.
    """

    centred = False

    def rank(self, n_components: int) -> int:
        return n_components

    def tensor(self, third: Array) -> Array:
        return third

    def locate(self, decomposition: Decomposition, n_rows: float) -> Located:
        """``π_k = 1/λ_k²`` and ``F'a_k = λ_k v_k``."""
        # λ = 1/√π is never below one; noise may put it there.
        weights = np.maximum(decomposition.values, 1.0) ** -2
        return Located(weights / weights.sum(), (decomposition.vectors * decomposition.values).T)


FORMS: dict[str, Form] = {"centred": Centred(), "raw": Raw()}
