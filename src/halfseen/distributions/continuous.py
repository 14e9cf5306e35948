"""Continuous columns: normal within a component, with outliers and a spike."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from halfseen.data.arrays import Array, Labels
from halfseen.distributions.column_kinds import (
    NARROWEST,
    STANDARD_DEVIATIONS,
    WIDEST,
    ColumnFacts,
    ColumnKind,
    between,
)
from halfseen.distributions.normal_em import variances_with_spikes
from halfseen.distributions.normal_kernels import WIDTH
from halfseen.moments.product_mixture.encoding import Item

if TYPE_CHECKING:
    from halfseen.distributions.mixed_parameters import MixedParameters


class Continuous(ColumnKind):
    """``N(μ, σ²)``; EM is that of :class:`~halfseen.distributions.normal.Normal`."""

    word = "continuous"
    normal = True

    def item(self, column: ColumnFacts) -> Item:
        return Item("number", column.middle, column.spread, column.spike)

    def statistics_of(self, column: ColumnFacts, x: Array) -> Array:
        spike = x == column.spike
        z = np.where(spike, 0.0, (x - column.middle) / column.spread)
        return np.column_stack([z, z**2, spike])

    def start_values(self, column: ColumnFacts, means: Array) -> dict[str, Array]:
        mean, square, spike = means.T
        beside = np.clip(1 - spike, 0.05, 1.0)
        middle = mean / beside
        spread = np.clip(square / beside - middle**2, NARROWEST, WIDEST)
        centres = column.middle + middle * column.spread
        found = {"means": centres, "centres": centres, "variances": spread * column.spread**2}
        if not np.isnan(column.spike):
            found["spike_shares"] = np.clip(spike, 0.02, 0.98)
        return found

    def means(self, parameters: "MixedParameters", columns: Labels) -> Array:
        means: Array = parameters.means[:, columns]
        return means

    def variances(self, parameters: "MixedParameters", columns: Labels) -> Array:
        return variances_with_spikes(parameters)[:, columns]

    def masses(self, parameters: "MixedParameters", d: int, home: "MixedParameters") -> Array:
        outliers, share = parameters.outlier_share, parameters.spike_shares[:, d]
        if not np.isnan(parameters.other[d]):
            nothing = np.full(len(share), outliers)
            return np.array([(1 - outliers) * share, (1 - outliers) * (1 - share), nothing])
        apart = np.sqrt(home.variances[:, d, None]) * STANDARD_DEVIATIONS
        cuts = np.unique(home.centres[:, d, None] + apart)
        spread = np.sqrt(parameters.variances[:, d])
        below = ndtr((cuts[:, None] - parameters.centres[:, d]) / spread)
        if outliers > 0:
            z = (cuts[:, None] - parameters.middle[d]) / (WIDTH * parameters.spread[d])
            below = (1 - outliers) * below + outliers * (0.5 + np.arctan(z) / np.pi)
        beside = between(below)
        if np.isnan(parameters.spike[d]):
            return beside
        return np.vstack([share, (1 - share) * beside])

    def profile(self, spread: Array, model: Any, d: int) -> dict[str, Any]:
        return {"kind": self.word, "mean": model.means_[:, d], "std": spread}
