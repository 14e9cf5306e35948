"""Mixtures of normals with covariances: each number given all others that are observed."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from halfseen.rows.arrays import Array

ROWS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Normals:
    """``Σ_k π_k N(μ_k, Σ_k)`` of some columns."""

    weights: Array  # (k,)
    means: Array  # (k, d)
    covariances: Array  # (k, d, d)

    def keeping(self, share: float) -> "Normals":
        """With so much of their correlations."""
        covariances = share * self.covariances
        places = np.arange(covariances.shape[-1])
        covariances[:, places, places] /= share
        return replace(self, covariances=covariances)

    def without_each(self, table: Array) -> Array:
        """What is expected of each cell given the others that are observed in its row; (n, d).

        With ``Q = Σ_oo⁻¹`` and ``v = Q (x_o - μ_o)`` an observed cell's expectation without it is
        ``x_d - v_d / Q_dd``, its variance ``1 / Q_dd``, and a gap's is ``μ_d + Σ_do v``.
        """
        parts = [
            self._of_few(table[start : start + ROWS_AT_ONCE])
            for start in range(0, len(table), ROWS_AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.empty(table.shape)

    def _of_few(self, table: Array) -> Array:
        there = ~np.isnan(table)
        masks, which = np.unique(there, axis=0, return_inverse=True)
        which = which.reshape(-1)
        said = np.empty((len(self.weights), *table.shape))
        joint = np.empty_like(said)
        for k, (mean, covariance) in enumerate(zip(self.means, self.covariances, strict=True)):
            own = covariance * (masks[:, :, None] & masks[:, None, :])
            own[:, np.arange(len(mean)), np.arange(len(mean))] += ~masks
            precision, (_, volume) = np.linalg.inv(own), np.linalg.slogdet(own)
            away = np.where(there, table - mean, 0.0)
            pulled = np.einsum("nij,nj->ni", precision[which], away)
            held = np.diagonal(precision, axis1=1, axis2=2)[which]
            height = -0.5 * (volume[which] + (away * pulled).sum(axis=1))
            alone = 0.5 * np.log(held) - 0.5 * pulled**2 / held  # log p(x_d | the others)
            said[k] = np.where(there, mean + away - pulled / held, mean + pulled @ covariance)
            # A constant that all components share in each cell does not matter.
            joint[k] = np.log(self.weights[k]) + height[:, None] - np.where(there, alone, 0.0)
        mean_of_all: Array = (softmax(joint, axis=0) * said).sum(axis=0)
        return mean_of_all


@dataclass(frozen=True, eq=False)
class Expert:
    """Mixtures of several sizes, averaged."""

    mixtures: tuple[Normals, ...]

    def keeping(self, share: float) -> "Expert":
        """With so much of their correlations."""
        return Expert(tuple(one.keeping(share) for one in self.mixtures))

    def without_each(self, table: Array) -> Array:
        """What is expected of each cell given the others of its row; (n, d)."""
        return np.asarray(np.mean([one.without_each(table) for one in self.mixtures], axis=0))
