"""Mixtures of spherical Gaussians, read off their moments."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfseen.method.decomposers.decomposition import Decomposition
from halfseen.method.model import Decompose, Evidence
from halfseen.models.gaussian_mixture.emission import MixtureParameters
from halfseen.models.gaussian_mixture.noise import (
    Noise,
    NoiseFloor,
    noise_floor,
    thin_noise_floor,
    well_observed,
)
from halfseen.moments.moments import Moments, Signal
from halfseen.moments.outer import Outer
from halfseen.rows.arrays import Array, Mask
from halfseen.structures.one_class.form import Form


@dataclass(frozen=True)
class GaussianCumulants:
    """``x ~ Σ_k π_k N(a_k, σ²_k I)``.

    About an origin o, with σ̄² = Σ π_k σ²_k and s = Σ π_k σ²_k (a_k - o):

        E[(x-o)⊗(x-o)] - σ̄² I               = Σ π_k (a_k-o)⊗(a_k-o)
        E[(x-o)⊗(x-o)⊗(x-o)] - (I⊗s, 3 places) = Σ π_k (a_k-o)⊗(a_k-o)⊗(a_k-o)

    (up to the outer square of the mean, absent about the mean). Whitened by F the right sides are
    orthogonally decomposable, in one of two forms.
    """

    form: Form
    noise: Noise
    n_noise_eigenvalues: Callable[[int, int], int]

    @property
    def centred(self) -> bool:
        """As the form says."""
        return self.form.centred

    def rank(self, n_components: int) -> int:
        """As the form says."""
        return self.form.rank(n_components)

    def most_components(self, n_features: int) -> int:
        """As many as leave dimensions for noise alone, as many of them as it is learned from."""
        possible = (
            k
            for k in range(1, n_features + 1)
            if self.rank(k) < n_features and self.n_noise_eigenvalues(n_features, k) >= 1
        )
        return max(possible, default=1)

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The second moment without the noise on its diagonal."""
        unit = self.noise.unit(moments)
        level, null = self._noise_floor(moments, unit, complete, n_components)
        noise = level * unit**2
        return Signal(moments.second - moments.diagonal(noise), noise, null, unit)

    def _noise_floor(
        self, moments: Moments, unit: Array, complete: Mask, n_components: int
    ) -> NoiseFloor:
        fraction, n_noise = moments.observed_fraction, self.n_noise_eigenvalues
        if moments.gaps.all_pairs:
            in_units = moments.covariance / np.outer(unit, unit)
            return noise_floor(in_units, fraction, complete, n_noise, n_components)
        features = well_observed(fraction, complete, n_noise, n_components)
        return thin_noise_floor(moments.second, unit, features, n_noise, n_components)

    def beyond(self, signal: Signal) -> Array:
        """What the noise needs."""
        return self.noise.probe(signal)

    def read(
        self, evidence: Evidence, decompose: Decompose
    ) -> tuple[MixtureParameters, Decomposition]:
        """One decomposition, of the whitened third moment without the noise."""
        decomposition = decompose(self.tensor(evidence))
        return self.parameters(evidence, decomposition), decomposition

    def tensor(self, evidence: Evidence) -> Array:
        """The whitened third moment without the noise, in the chosen form."""
        r, third = evidence.whitening.rank, evidence.third
        whitened = third.tensor[:r, :r, :r]
        slope = evidence.whitening.back @ self.noise.slope(evidence)  # (d,)
        if slope.any():
            pairs = Outer(evidence.signal.unit**2, slope)
            whitened = whitened - third.alike(pairs, np.zeros_like(slope))
        return self.form.tensor(whitened)

    def parameters(self, evidence: Evidence, decomposition: Decomposition) -> MixtureParameters:
        """Mixing weights, means and variances."""
        moments, back = evidence.moments, evidence.whitening.back
        located = self.form.locate(decomposition, moments.n_rows)
        means = moments.origin + located.places @ back.T
        variances = self.noise.variances(evidence, located)
        return MixtureParameters(
            located.weights, means, np.outer(variances, evidence.signal.unit**2)
        )
