"""What spherical noise adds to the third moment, and how its variances are read off."""

from typing import Protocol

import numpy as np
from scipy.optimize import nnls

from halfseen.method.model import Evidence
from halfseen.models.gaussian_mixture.noise_floor import MOST_NULL
from halfseen.moments.moments import Moments
from halfseen.moments.signal import Signal
from halfseen.rows.arrays import Array
from halfseen.structures.one_class.form import Located


class Noise(Protocol):
    """Noise adds ``slope ⊗ 1`` in three places to the third moment about the origin."""

    def unit(self, moments: Moments) -> Array:
        """The scale on which the noise of all features is alike; (d,)."""

    def probe(self, signal: Signal) -> Array:
        """Directions (d, m), beyond the whitening, in which the third moment is needed."""

    def slope(self, evidence: Evidence) -> Array:
        """``F' Σ_k π_k σ²_k (a_k - origin)``, variances being in units; (r,)."""

    def variances(self, evidence: Evidence, located: Located) -> Array:
        """``σ²_k`` in units; (k,)."""


class TiedSpherical:
    """One variance for all components: the slope is ``σ² F'(μ - origin)``."""

    def unit(self, moments: Moments) -> Array:
        """Noise is alike as it is."""
        return np.ones_like(moments.mean)

    def probe(self, signal: Signal) -> Array:
        """Nothing more."""
        return signal.null[:, :0]

    def slope(self, evidence: Evidence) -> Array:
        """Zero about the mean: central third moments do not see shared noise."""
        mean = evidence.whitening.forward.T @ evidence.moments.offset
        slope: Array = _noise_level(evidence.signal) * mean
        return slope

    def variances(self, evidence: Evidence, located: Located) -> Array:
        """The noise level, for every component."""
        return np.full(evidence.n_components, _noise_level(evidence.signal))


class TiedDiagonal(TiedSpherical):
    """Noise in proportion to each feature's own spread, the same for all components.

    A start for mixtures with free variances that does not depend on the features' units.
    """

    def unit(self, moments: Moments) -> Array:
        """Standard deviations, even where raw moments have lost them to rounding."""
        squares: Array = moments.second.diagonal()
        variances = squares - moments.offset**2
        return np.sqrt(np.maximum(variances, np.finfo(float).eps * squares))


class Spherical:
    """A variance for each component (Hsu and Kakade 2013).

    Along a unit vector v in which the means do not vary, x has variance σ²_k given component k, so
    ``E[(x - origin) (v·(x - μ))²] = Σ_k π_k σ²_k (a_k - origin)``. It is averaged over all such v.
    """

    def unit(self, moments: Moments) -> Array:
        """Noise is alike as it is."""
        return np.ones_like(moments.mean)

    def probe(self, signal: Signal) -> Array:
        """The null directions, as many as are worth their cost."""
        return signal.null[:, :MOST_NULL]

    def slope(self, evidence: Evidence) -> Array:
        """The average over the null directions, from the third moment about the origin."""
        r = evidence.whitening.rank
        forward, null = evidence.whitening.forward, self.probe(evidence.signal)
        offset, second = evidence.moments.offset, evidence.moments.second
        along = offset @ null  # (m,)  v·(μ - origin)
        third = np.einsum("ivv->iv", evidence.third.tensor[:r, r:, r:])
        linear = forward.T @ (second @ null)
        constant = (forward.T @ offset)[:, None]
        slope: Array = (third - 2 * along * linear + along**2 * constant).mean(axis=1)
        return slope

    def variances(self, evidence: Evidence, located: Located) -> Array:
        """Solve ``Σ u_k = σ̄²`` and ``Σ u_k F'(a_k - origin) = slope`` for ``u_k = π_k σ²_k``."""
        mean_variance = _noise_level(evidence.signal)
        system = np.vstack([np.ones(evidence.n_components), located.places.T])
        shares, _ = nnls(system, np.concatenate([[mean_variance], self.slope(evidence)]))
        # Noise can leave a component with no variance at all, and a density with none is infinite.
        variances: Array = np.maximum(shares / located.weights, 1e-2 * mean_variance)
        return variances


def _noise_level(signal: Signal) -> float:
    """``σ̄²``, the same for all features in their units."""
    return float(signal.noise[0] / signal.unit[0] ** 2)


NOISES: dict[str, Noise] = {
    "tied_spherical": TiedSpherical(),
    "spherical": Spherical(),
    "diag": TiedDiagonal(),
}
