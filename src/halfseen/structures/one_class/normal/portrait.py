"""How a mixture of normal columns is shown to people: as groups, and where their numbers lie."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, xlogy

from halfseen.explain.apart import Apart
from halfseen.explain.groups import Groups
from halfseen.method.fit import Fitted
from halfseen.method.learned import whole
from halfseen.rows.arrays import Array
from halfseen.structures.one_class.mixed.information import class_entropy
from halfseen.structures.one_class.mixed.portrait import Shown

MOST_CUTS, FEWEST_CUTS, REACH = 400, 16, 6.0
"""Where numbers are cut, to see what they tell: in so many places, so many spreads out."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """Normal columns, some of whose values may be one that many rows hold exactly."""

    weights: Array  # (k,)
    centres: Array  # (k, d)  beside the spike
    variances: Array  # (k, d)
    spike: Array  # (d,)  NaN if there is none
    other: Array  # (d,)  the only other value, if there are two
    spike_shares: Array  # (k, d)

    @classmethod
    def of(cls, parameters: Any) -> "Numbers":
        """Of any mixture of normal columns."""
        centres = getattr(parameters, "centres", parameters.means)
        none = np.full(centres.shape, np.nan)
        variances = np.broadcast_to(parameters.variances, centres.shape)
        return cls(
            parameters.weights,
            centres,
            np.maximum(variances, np.finfo(float).tiny),
            getattr(parameters, "spike", none[0]),
            getattr(parameters, "other", none[0]),
            np.nan_to_num(getattr(parameters, "spike_shares", none)),
        )

    def ordered(self, order: Any) -> "Numbers":
        """The same with components in another order."""
        own = {name: getattr(self, name)[order] for name in ("weights", "centres", "variances")}
        return replace(self, **own, spike_shares=self.spike_shares[order])


def of_component(numbers: Numbers, home: Numbers) -> Array:
    """Nats that each column tells of the component, cut where ``home`` would cut it; (d,).

    ``I(x; z) = Σ_x Σ_k π_k p_k(x) log(p_k(x) / p(x))`` over intervals, and the spike beside them.
    """
    weights, share = numbers.weights, numbers.spike_shares
    n_cuts = max(MOST_CUTS // len(weights), FEWEST_CUTS)
    away = np.linspace(-REACH, REACH, n_cuts)[:, None, None]
    cuts = np.sort((home.centres + away * np.sqrt(home.variances)).reshape(-1, share.shape[1]), 0)
    below = ndtr((cuts[:, None] - numbers.centres) / np.sqrt(numbers.variances))  # (m, k, d)
    beside = np.diff(below, axis=0, prepend=0.0, append=1.0)
    beside = np.where(np.isnan(numbers.other), beside, 1 / len(beside))
    masses = np.concatenate([(1 - share) * beside, share[None]])
    together = np.einsum("k,mkd->md", weights, masses)
    nats = np.einsum("k,mkd->d", weights, xlogy(masses, masses)) - xlogy(together, together).sum(0)
    return np.asarray(np.maximum(nats, 0.0))


def as_normal_groups(fitted: Fitted[Any]) -> Groups:
    """Groups of rows with the means of their columns, and where numbers lie about those."""
    emission: Any = fitted.model.emission  # type: ignore[attr-defined]
    parameters, kept = fitted.parameters, fitted.kept
    groups = Groups.of(fitted, emission.means(parameters), emission.variances(parameters))
    home = Numbers.of(parameters)
    shown = Shown(fitted, home.ordered(groups.order), np.flatnonzero(kept))
    two = ~np.isnan(home.other)

    def told(other: Any) -> Array:
        return whole(of_component(Numbers.of(other), home), kept, np.nan)

    return replace(
        groups,
        categories=tuple(shown.two_values(i) for i in np.flatnonzero(two)),
        densities=tuple(shown.numbers(i) for i in np.flatnonzero(~two)),
        apart=Apart(told(parameters), class_entropy(home.weights), told),
    )
