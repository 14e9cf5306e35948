"""Parameters of gamma-Poisson topics, and their cumulants."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import nnls

from halfseen.data.arrays import Array, Mask
from halfseen.inference.model import Cumulants, Decompose, Evidence
from halfseen.inference.parameters import CLIPPED, POSITIVE, learned
from halfseen.inference.tensor_decomposition import Decomposition
from halfseen.latent.loadings import (
    LoadingPrior,
    TopicParameters,
    non_negative_shares,
    some_variance,
)
from halfseen.moments.second_moment import Moments
from halfseen.moments.whitening import Signal


@dataclass(frozen=True, eq=False)
class GammaPoissonParameters(LoadingPrior):
    """``x_d ~ Poisson(Σ_k α_k a_kd)`` with ``α_k ~ Gamma(shape c_k, rate b)``."""

    topics: Array = learned("components_", "kd", CLIPPED, 0.0)  # a_k in rows
    shapes: Array = learned("shapes_", "k", POSITIVE)  # c
    rate: float = learned("rate_", "", POSITIVE)  # b

    @classmethod
    def matching(cls, topics: TopicParameters) -> Self:
        """Parameters whose loadings have given means and variances."""
        normal = topics.normalised()
        return cls(normal.topics, normal.shapes, normal.rate)


class GammaPoissonCumulants(Cumulants[TopicParameters]):
    """``x_d ~ Poisson(Σ_k a_dk α_k)``, ``α_k ~ Gamma(shape c_k, rate b)`` (discrete ICA).

    Poisson noise adds to the diagonals of the cumulants only in ways that they tell themselves:

        S = cov(x) - diag(E x)                                             = Σ s_k a_k⊗a_k
        T_ijk = cum(x_i, x_j, x_k) - δ_ij cov_ik - δ_ik cov_ij - δ_jk cov_ij + 2 δ_ijk E x_i
                                                                           = Σ t_k a_k⊗a_k⊗a_k

    with s_k = c_k/b² and t_k = 2c_k/b³, so that λ_k = t_k/s_k^(3/2) = 2/√c_k.

    References
    ----------
    A. Podosinnikova, F. Bach, S. Lacoste-Julien (2015), Rethinking LDA: moment matching for
    discrete ICA.
    """

    def signal(self, moments: Moments, complete: Mask, n_components: int) -> Signal:
        """The covariance without the Poisson variances on its diagonal."""
        d = len(moments.mean)
        matrix = moments.second - moments.diagonal(moments.mean)
        return Signal(matrix, noise=moments.mean, null=np.empty((d, 0)), unit=np.ones(d))

    def read(
        self, evidence: Evidence, decompose: Decompose
    ) -> tuple[TopicParameters, Decomposition]:
        """One decomposition, of the whitened third cumulant."""
        decomposition = decompose(self.tensor(evidence))
        return self.parameters(evidence, decomposition), decomposition

    def tensor(self, evidence: Evidence) -> Array:
        third, moments = evidence.third, evidence.moments
        return third.tensor - third.alike(moments.second, -2 * moments.mean)

    def parameters(self, evidence: Evidence, decomposition: Decomposition) -> TopicParameters:
        """Topics with the means and variances of their loadings.

        ``B v_k = √s_k a_k`` with a_k ≥ 0 of sum one, so s_k is the square of its sum. The means
        solve ``μ = A m``; with them the shapes follow from second moments alone, c_k = m_k²/s_k,
        which is about half as noisy as the third-order c_k = 4/λ_k².
        """
        scaled = evidence.whitening.back @ decomposition.vectors  # (d, k)
        scaled = scaled * np.where(scaled.sum(axis=0) < 0, -1.0, 1.0)
        scaled = non_negative_shares(scaled, evidence.moments.mean)
        lengths = scaled.sum(axis=0)
        topics = scaled / lengths
        root_count = np.sqrt(evidence.moments.gaps.own)
        means, _ = nnls(topics * root_count[:, None], evidence.moments.mean * root_count)
        # A topic that the means can do without still has its variance: keep its shape positive.
        means = np.maximum(means, 1e-6 * evidence.moments.mean.sum() / evidence.n_components)
        # Totals that vary no more than Poisson ones do leave loadings no variance.
        return TopicParameters(topics.T, means, some_variance(means, lengths**2))
