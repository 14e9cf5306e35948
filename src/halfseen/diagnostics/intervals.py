"""How sure the learned parameters are: confidence intervals by bootstrap."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.special import betaincinv
from scipy.stats import norm
from scipy.stats import t as student

from halfseen.data.arrays import Array
from halfseen.data.resampling import Bins
from halfseen.data.rows import Rows
from halfseen.diagnostics.bootstrap import check_learned_from, replicated_parameters
from halfseen.diagnostics.recovery import nearest
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import FRACTION, Scale, reordered, scales, two_values
from halfseen.moments.survey import Survey

P = TypeVar("P")
Public = Mapping[str, Array]
"""Learned parameters by the names of the attributes that hold them."""
N_REPLICATES = 200
FEWEST_REPLICATES = 50
HALF_ROW = 0.5
"""What Jeffreys' prior adds to the rows that show something and to those that do not."""


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
        here = self.fitted.parameters
        estimate, *values = map(self.fitted.attributes, (here, *self.parameters))
        two = two_values(here, estimate)
        return intervals_from(estimate, values, scales(here), two, level, self.n_bins)

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
    weights /= weights.mean(axis=0)  # balanced: replicates are about the estimate
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
    two_values: Mapping[str, Array],
    level: float,
    n_bins: int,
) -> dict[str, Interval]:
    """Intervals for every attribute of ``estimate``.

    Means of features that have only ``two_values`` (2, d) are probabilities of the higher one.
    """
    found = {}
    for name, scale in scales.items():
        if np.isnan(estimate[name]).all():
            continue  # which only other columns have
        values = np.array([replicate[name] for replicate in replicates])
        found[name] = _interval(np.asarray(estimate[name]), values, scale, level, n_bins)
        if name in two_values:
            low, high = two_values[name]
            here, there = ((one - low) / (high - low) for one in (estimate[name], values))
            share, other = _interval(here, there, FRACTION, level, n_bins), found[name]
            two, width = np.isfinite(high), high - low
            found[name] = Interval(
                np.where(two, low + width * share.low, other.low),
                np.where(two, low + width * share.high, other.high),
                np.where(two, width * share.std, other.std),
            )
    return found


def _interval(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    rule = _of_probabilities if scale.probability else _of_numbers
    return rule(estimate, replicates, scale, level, n_bins)


def _of_probabilities(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    """Jeffreys' interval for the effective number of rows that an estimate rests on.

    If n independent rows show something or not, the log-odds of its probability p have variance
    ``1 / (n p (1-p))``: that of the replicates gives n. The interval is that of a beta
    distribution with half a row of either kind added. If less than half a row of one kind was
    seen, it reaches the edge and goes as far from it as if there had been half a row: with none
    of n rows, up to ``1 - tail^(1/n)``, which is 3.7 / n. That is the modified interval of
    L. Brown, T. Cai and A. DasGupta (2001), Interval estimation for a binomial proportion.
    """
    tail = (1 - level) / 2
    middle, spread = _log_odds(replicates, scale)
    error = middle * (1 - middle) * spread
    few_bins = student.ppf(1 - tail, n_bins - 1) / norm.ppf(1 - tail)
    told = error > 0
    n_rows = np.divide(middle * (1 - middle), (few_bins * error) ** 2, where=told, out=1.0 * error)
    yes, no = n_rows * estimate, n_rows * (1 - estimate)
    half_yes, half_no = np.maximum(yes, HALF_ROW), np.maximum(no, HALF_ROW)
    low = betaincinv(yes + HALF_ROW, half_no + HALF_ROW, tail)
    high = betaincinv(half_yes + HALF_ROW, no + HALF_ROW, 1 - tail)
    low, high = np.where(yes < HALF_ROW, 0.0, low), np.where(no < HALF_ROW, 1.0, high)
    low, high = np.minimum(low, estimate), np.maximum(high, estimate)
    return Interval(np.where(told, low, estimate), np.where(told, high, estimate), error)


def _log_odds(replicates: Array, scale: Scale) -> tuple[Array, Array]:
    """The probabilities that replicates are about, and standard deviations of their log-odds.

    To first order in the logarithms of probabilities that sum to one: with r_l the deviation of
    that of p_l, the log-odds of p_l deviate by ``(r_l - Σ_m p_m r_m) / (1 - p_l)``. One that
    varies widely would otherwise take the others with it.
    """
    if scale.sums_along is None:
        odds = scale.to(replicates)
        return scale.back(odds.mean(axis=0)), odds.std(axis=0, ddof=1)
    logs = np.log(np.maximum(replicates, np.finfo(float).tiny))
    centre = logs.mean(axis=0)
    middle = np.exp(centre - np.fmax.reduce(centre, axis=scale.sums_along, keepdims=True))
    middle /= np.nansum(middle, axis=scale.sums_along, keepdims=True)
    deviation = np.moveaxis(logs - centre, 0, -1)  # (..., b)
    side = scale.sums_along - (scale.sums_along < 0)
    common = np.nansum(middle[..., None] * deviation, axis=side, keepdims=True)
    spread = (deviation - common).std(axis=-1, ddof=1)
    return middle, np.divide(spread, 1 - middle, where=middle < 1, out=np.zeros_like(spread))


def _of_numbers(
    estimate: Array, replicates: Array, scale: Scale, level: float, n_bins: int
) -> Interval:
    """Both the interval of Student's t about the estimate and between quantiles of replicates.

    The first knows how few bins there were, the second what happens at the edge of what is
    possible; either alone is somewhat short.
    """
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
