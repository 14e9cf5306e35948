"""The contract of a model that can be read off its second and third moments."""

from dataclasses import dataclass
from typing import Protocol, TypeVar

from halfseen.method.decomposers.decomposition import Decomposition
from halfseen.moments.moments import Moments
from halfseen.moments.signal import Signal
from halfseen.moments.thirds.third import ProjectedThird
from halfseen.moments.whitening import Whitening
from halfseen.rows.arrays import Array, Mask

P_co = TypeVar("P_co", covariant=True)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the data said: everything that a model is read off."""

    n_components: int
    moments: Moments
    signal: Signal
    weights: Array  # (d,)  of the features
    whitening: Whitening
    third: ProjectedThird


class Model(Protocol[P_co]):
    """A latent-variable model as the method of moments sees it.

    The tensor that :meth:`tensor` makes of the evidence is, for the true moments, orthogonally
    decomposable: ``Σ_k λ_k v_k ⊗ v_k ⊗ v_k``, one orthonormal v_k a component.
    """

    @property
    def centred(self) -> bool:
        """Whether moments are taken about the mean rather than about zero."""

    def rank(self, n_components: int) -> int:
        """The rank of the signal with that many components."""

    def most_components(self, n_features: int) -> int:
        """How many components so many features can tell from noise."""

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The part of the second moment that the components explain."""

    def beyond(self, signal: Signal) -> Array:
        """Directions (d, m), beyond the whitening, in which the third moment is needed."""

    def tensor(self, evidence: Evidence) -> Array:
        """The tensor (k, k, k) to decompose."""

    def parameters(self, evidence: Evidence, decomposition: Decomposition) -> P_co:
        """The model's parameters for the features in the evidence."""
