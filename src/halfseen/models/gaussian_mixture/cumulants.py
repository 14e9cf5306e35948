"""Cumulants of spherical Gaussian mixtures."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.optimize import nnls

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError, WeakMomentsWarning, warn
from halfseen.data.messages import parameter, setting
from halfseen.distributions.normal_em import MixtureParameters
from halfseen.inference.model import Cumulants, Decompose, Evidence
from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.latent.moment_tensor import Form
from halfseen.moments.second_moment import Moments
from halfseen.moments.second_moment_operator import Outer
from halfseen.moments.symmetric_tensors import Located
from halfseen.moments.whitening import Signal, leading_eigenpairs

MOST_NULL = 32
"""Null directions that are averaged over: the cost grows with their cube, the gain levels off."""


class NoiseFloor(NamedTuple):
    """The noise level of a mixture, and the directions that hold only noise."""

    variance: float  # σ², averaged over the components
    null: Array  # (d, m)  orthonormal, zero outside the complete features


def exact_rank(n_complete: int, n_components: int) -> int:
    """The covariance of K component means has rank K - 1: D - K + 1 eigenvalues are noise."""
    return n_complete - n_components + 1


def paper_rank(n_complete: int, n_components: int) -> int:
    """Gottesman, Pan and Doshi-Velez average one eigenvalue fewer, D - K, which biases σ² down."""
    return n_complete - n_components


NOISE_EIGENVALUES: dict[str, Callable[[int, int], int]] = {
    "D-K+1": exact_rank,
    "D-K": paper_rank,
}


def noise_floor(
    covariance: Array,
    fraction: Array,
    complete: Mask,
    n_noise: Callable[[int, int], int],
    n_components: int,
) -> NoiseFloor:
    """The mean of the smallest eigenvalues of the well-observed features' covariance.

    Only well-observed features, because the smallest eigenvalue of poorly estimated moments says
    more about the estimate than about the noise.
    """
    features = well_observed(fraction, complete, n_noise, n_components)
    values, vectors = np.linalg.eigh(covariance[np.ix_(features, features)])
    n = n_noise(len(values), n_components)
    null = np.zeros((len(complete), n))
    null[features] = vectors[:, :n]
    # A noise of zero would make a density infinite: copies of a feature can cause it.
    floor = 1e-6 * values.mean()
    return NoiseFloor(max(float(values[:n].mean()), floor), null)


def thin_noise_floor(
    second: Any,
    unit: Array,
    features: Mask,
    n_noise: Callable[[int, int], int],
    n_components: int,
) -> NoiseFloor:
    """The same of a second moment that only multiplies, for ``features`` (d,) in their units.

    The smallest eigenvalues are what the largest leave of the trace, and directions drawn at random
    are rid of the largest ones' eigenvectors.
    """
    scale = np.where(features, 1 / unit, 0.0)
    d = int(np.count_nonzero(features))
    n = n_noise(d, n_components)
    values, vectors = leading_eigenpairs(second, scale, d - n)
    values, vectors = values[: d - n], vectors[:, : d - n]
    trace = float(np.sum(scale**2 * second.diagonal()))
    drawn = np.random.default_rng(0).standard_normal((len(features), min(n, MOST_NULL)))
    drawn = drawn * features[:, None]
    null, _ = np.linalg.qr(drawn - vectors @ (vectors.T @ drawn))
    return NoiseFloor(max((trace - float(values.sum())) / n, 1e-6 * trace / d), null)


def well_observed(
    fraction: Array, complete: Mask, n_noise: Callable[[int, int], int], n_components: int
) -> Mask:
    """The complete features or, where they are too few, those observed nearly as often."""
    needed = next(d for d in itertools.count(1) if n_noise(d, n_components) >= 1)
    n_complete = int(np.count_nonzero(complete))
    if n_complete >= needed:
        return complete
    if len(fraction) < needed:
        raise DataError(
            setting(n_components=n_components)
            + f" needs at least {needed} features to tell components "
            f"from noise, but only {len(fraction)} can be used (n_features={len(fraction)}). "
            "Use fewer components, or add features that are observed in most rows."
        )
    features: Mask = fraction >= np.sort(fraction)[-needed] / 2
    warn(
        f"Only {n_complete} features are complete, fewer than the {needed} from which to tell "
        f"{n_components} components from noise; the {np.count_nonzero(features)} best observed "
        "are used instead. Lower "
        + parameter("complete_above")
        + " to choose them, or use fewer components.",
        WeakMomentsWarning,
    )
    return features


class Noise(Protocol):
    """Noise adds ``slope ⊗ 1`` in three places to the third moment about the origin."""

    def unit(self, moments: Moments) -> Array:
        """The scale on which all features have equal noise; (d,)."""

    def probe(self, signal: Signal) -> Array:
        """Directions (d, m), beyond the whitening, in which the third moment is needed."""

    def slope(self, evidence: Evidence) -> Array:
        """``F' Σ_k π_k σ²_k (a_k - origin)``, variances being in units; (r,)."""

    def variances(self, evidence: Evidence, located: Located) -> Array:
        """``σ²_k`` in units; (k,)."""


class TiedSpherical:
    """One variance for all components: the slope is ``σ² F'(μ - origin)``."""

    def unit(self, moments: Moments) -> Array:
        return np.ones_like(moments.mean)

    def probe(self, signal: Signal) -> Array:
        return signal.null[:, :0]

    def slope(self, evidence: Evidence) -> Array:
        """Zero about the mean: central third moments do not see shared noise."""
        mean = evidence.whitening.forward.T @ evidence.moments.offset
        slope: Array = _noise_level(evidence.signal) * mean
        return slope

    def variances(self, evidence: Evidence, located: Located) -> Array:
        return np.full(evidence.n_components, _noise_level(evidence.signal))


class TiedDiagonal(TiedSpherical):
    """Noise in proportion to each feature's own spread, the same for all components.

    A start for mixtures with free variances that does not depend on the features' units.
    """

    def unit(self, moments: Moments) -> Array:
        squares: Array = moments.second.diagonal()
        variances = squares - moments.offset**2
        return np.sqrt(np.maximum(variances, np.finfo(float).eps * squares))


class Spherical:
    """A variance for each component (Hsu and Kakade 2013).

    Along a unit vector v in which the means do not vary, x has variance σ²_k given component k, so
    ``E[(x - origin) (v·(x - μ))²] = Σ_k π_k σ²_k (a_k - origin)``. It is averaged over all such v.
    """

    def unit(self, moments: Moments) -> Array:
        return np.ones_like(moments.mean)

    def probe(self, signal: Signal) -> Array:
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


@dataclass(frozen=True)
class GaussianCumulants(Cumulants[MixtureParameters]):
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
        return self.form.centred

    def rank(self, n_components: int) -> int:
        return self.form.rank(n_components)

    def most_components(self, n_features: int) -> int:
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
        return self.noise.probe(signal)

    def read(
        self, evidence: Evidence, decompose: Decompose
    ) -> tuple[MixtureParameters, Decomposition]:
        """One decomposition, of the whitened third moment without the noise."""
        decomposition = decompose(self.tensor(evidence))
        return self.parameters(evidence, decomposition), decomposition

    def tensor(self, evidence: Evidence) -> Array:
        r, third = evidence.whitening.rank, evidence.third
        whitened = third.tensor[:r, :r, :r]
        slope = evidence.whitening.back @ self.noise.slope(evidence)  # (d,)
        if slope.any():
            pairs = Outer(evidence.signal.unit**2, slope)
            whitened = whitened - third.alike(pairs, np.zeros_like(slope))
        return self.form.tensor(whitened)

    def parameters(self, evidence: Evidence, decomposition: Decomposition) -> MixtureParameters:
        moments, back = evidence.moments, evidence.whitening.back
        located = self.form.locate(decomposition, moments.gaps.n_rows)
        means = moments.origin + located.places @ back.T
        variances = self.noise.variances(evidence, located)
        return MixtureParameters(
            located.weights, means, np.outer(variances, evidence.signal.unit**2)
        )
