"""Parameters of latent Dirichlet allocation."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.method.learned import BEHIND, learned
from halfseen.method.scale import CLIPPED, POSITIVE
from halfseen.rows.arrays import Array
from halfseen.structures.loadings.loading_moments import TopicParameters


@dataclass(frozen=True, eq=False)
class LdaParameters:
    """``θ ~ Dirichlet(α)``, and each item of a row is of feature d with chance ``Σ_k θ_k a_kd``.

    How many items a row has is negative binomial: Poisson, of a mean that is a gamma. Loadings are
    that mean times θ.
    """

    topics: Array = learned("components_", "kd", CLIPPED, 0.0)  # a_k in rows
    shapes: Array = learned("alpha_", "k", POSITIVE)  # α
    length_shape: float = learned("length_shape_", "", POSITIVE, role=BEHIND)
    rate: float = learned("length_rate_", "", POSITIVE, role=BEHIND)

    @property
    def extra(self) -> float:
        """Lengths may vary less, or more, than independent loadings have them."""
        return self.length_shape - float(self.shapes.sum())


@dataclass(frozen=True, eq=False)
class LengthLaw:
    """Negative binomial: a gamma mean of this shape and rate."""

    shape: float
    rate: float

    @property
    def mean(self) -> float:
        """Items in a row."""
        return self.shape / self.rate

    @property
    def variance(self) -> float:
        """Of the gamma."""
        return self.shape / self.rate**2


@dataclass(frozen=True, eq=False)
class ReadTopics(TopicParameters):
    """Topics as read off the moments; their loadings are shares times a row's length."""

    concentration: float
    lengths: LengthLaw

    @classmethod
    def of(cls, topics: Array, shares: Array, concentration: float, lengths: LengthLaw) -> Self:
        """With the means and variances that loadings ``τ θ`` have; ``shares`` (k,) are E[θ]."""
        variances = np.diagonal(_covariance(shares, concentration, lengths)).copy()
        return cls(topics, lengths.mean * shares, variances, concentration, lengths)

    @property
    def precision(self) -> Array:
        """The inverse of the loadings' covariance, which share a total; (k, k)."""
        shares = self.means / self.lengths.mean
        found = np.linalg.inv(_covariance(shares, self.concentration, self.lengths))
        return np.asarray(found, dtype=float)

    def parameters(self) -> LdaParameters:
        """The model's own."""
        normal = self.normalised()
        alpha = self.concentration * normal.means / normal.means.sum()
        return LdaParameters(normal.topics, alpha, self.lengths.shape, self.lengths.rate)


def _covariance(shares: Array, concentration: float, lengths: LengthLaw) -> Array:
    """``E[τ²] cov(θ) + var(τ) E[θ]⊗E[θ]``; (k, k)."""
    square, both = lengths.variance + lengths.mean**2, np.outer(shares, shares)
    of_shares = (np.diag(shares) - both) / (concentration + 1)
    covariance: Array = np.asarray(square * of_shares + lengths.variance * both, dtype=float)
    return covariance
