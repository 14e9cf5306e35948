"""Mixtures of normals with covariances: each number given all others that are observed."""

from dataclasses import dataclass, replace

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.block import Block
from halfseen.structures.one_class.full.by_gaps import ByGaps
from halfseen.structures.one_class.full.kernel import without_each


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

    def without_each(self, rows: ByGaps) -> Array:
        """What is expected of each cell given the others that are observed in its row; (n, d)."""
        found = np.empty(rows.values.shape)
        without_each(
            rows.values,
            *rows[3:],
            np.log(self.weights),
            np.ascontiguousarray(self.means),
            np.ascontiguousarray(self.covariances),
            np.ascontiguousarray(np.linalg.inv(self.covariances)),
            np.linalg.slogdet(self.covariances)[1],
            found,
        )
        return rows.back(found)


@dataclass(frozen=True, eq=False)
class Expert:
    """Mixtures of several sizes, averaged."""

    mixtures: tuple[Normals, ...]

    def keeping(self, share: float) -> "Expert":
        """With so much of their correlations."""
        return Expert(tuple(one.keeping(share) for one in self.mixtures))

    def without_each(self, table: Array) -> Array:
        """What is expected of each cell given the others of its row; (n, d)."""
        rows = ByGaps.of(Block.from_table(table))
        return np.asarray(np.mean([one.without_each(rows) for one in self.mixtures], axis=0))
