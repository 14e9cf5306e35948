"""How sure the learned parameters are: confidence intervals by bootstrap."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.stats import t as student

from halfseen.doubt.learned_rows import check_learned_from
from halfseen.doubt.matching import nearest
from halfseen.doubt.replicates import replicated_parameters
from halfseen.method.fit import Fitted
from halfseen.method.learned import reordered, scales
from halfseen.method.scale import Scale
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Rows

P = TypeVar("P")
Public = Mapping[str, Array]
"""Learned parameters by the names of the attributes that hold them."""
N_REPLICATES = 200
FEWEST_REPLICATES = 50


class Interval(NamedTuple):
    """Of one learned attribute, entry by entry: where the truth is, and how uncertain that is."""

    low: Array
    high: Array
    std: Array  # standard error


def bootstrapped(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, level: float, n_replicates: int
) -> dict[str, Interval]:
    """Confidence intervals of all that was learned from ``rows``."""
    check_level(level)
    return replicates(fitted, rows, seen, bins, n_replicates).of_attributes(level)


@dataclass(frozen=True, eq=False)
class Replicates(Generic[P]):
    """What would have been learned, had bins of the rows counted more or less."""

    fitted: Fitted[P]
    parameters: list[P]
    n_bins: int

    def of_attributes(self, level: float) -> dict[str, Interval]:
        """Intervals of all that is learned, by name."""
        estimate, *values = map(self.fitted.attributes, (self.fitted.parameters, *self.parameters))
        return intervals_from(estimate, values, scales(self.fitted.parameters), level, self.n_bins)

    def of(self, follows: Callable[[P], Array], scale: Scale, level: float) -> Interval:
        """Intervals of what ``follows`` from parameters."""
        estimate, values = follows(self.fitted.parameters), map(follows, self.parameters)
        return _interval(estimate, np.array(list(values)), scale, level, self.n_bins)


def replicates(
    fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, n_replicates: int
) -> Replicates[P]:
    """From the rows that the model was learned from."""
    check_learned_from(fitted, seen)
    # The Bayesian bootstrap: every bin counts for something, so no feature is ever lost.
    weights = np.random.default_rng(0).exponential(size=(n_replicates, bins.n))
    return Replicates(fitted, _replicates(fitted, rows, seen, bins, weights), bins.n)


def _replicates(fitted: Fitted[P], rows: Rows, seen: Survey, bins: Bins, weights: Array) -> list[P]:
    """Parameters of the kept features, components in the order of the fit."""
    model, home = fitted.model, fitted.parameters
    if fitted.settings.refine is not None:
        return model.replicated(rows.select(seen.kept), home, bins, weights)
    places = model.places(home, home)
    return [
        reordered(one, nearest(places, model.places(one, home)))
        for one in replicated_parameters(fitted, rows, seen, bins, weights)
    ]


def intervals_from(
    estimate: Public,
    replicates: Sequence[Public],
    scales: Mapping[str, Scale],
    level: float,
    n_bins: int,
) -> dict[str, Interval]:
    """Intervals for every attribute of ``estimate``.

    Each holds both the interval of Student's t about the estimate and that between the quantiles
    of the replicates. The first knows how few bins there were, the second what happens at the edge
    of what is possible, such as a share of zero; either alone is somewhat short.
    """
    found = {}
    for name, scale in scales.items():
        if np.isnan(estimate[name]).all():
            continue  # which only other columns have
        values = np.array([replicate[name] for replicate in replicates])
        found[name] = _interval(np.asarray(estimate[name]), values, scale, level, n_bins)
    return found


def _interval(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    tail = (1 - level) / 2
    at, spread = scale.to(estimate), scale.to(replicates).std(axis=0, ddof=1)
    reach = student.ppf(1 - tail, n_bins - 1) * spread
    low, high = np.quantile(replicates, [tail, 1 - tail], axis=0)
    return Interval(
        np.minimum(scale.back(at - reach), low),
        np.maximum(scale.back(at + reach), high),
        replicates.std(axis=0, ddof=1),
    )


def check_level(level: Any) -> None:
    """A level of confidence is between zero and one."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ValueError(f"level must be a number above 0 and below 1. Got {level!r} instead.")
