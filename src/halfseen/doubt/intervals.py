"""How sure the learned parameters are: confidence intervals by bootstrap."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

from halfseen.rows.arrays import Array

P = TypeVar("P")
Public = Mapping[str, Array]
"""Learned parameters by the names of the attributes that hold them."""


class Scale(NamedTuple):
    """Where estimates are nearly normal, and the way back."""

    to: Callable[[Array], Array]
    back: Callable[[Array], Array]


def _same(values: Array) -> Array:
    return values


def _log(values: Array) -> Array:
    return np.log(np.maximum(values, np.finfo(float).tiny))


def _logit(values: Array) -> Array:
    tiny = np.finfo(float).eps
    odds: Array = logit(np.clip(values, tiny, 1 - tiny))
    return odds


ANY = Scale(_same, _same)
POSITIVE = Scale(_log, np.exp)
SHARE = Scale(_logit, expit)
FRACTION = Scale(_same, lambda values: np.clip(values, 0.0, 1.0))  # may well be zero


class Interval(NamedTuple):
    """Of one learned attribute, entry by entry: where the truth is, and how uncertain that is."""

    low: Array
    high: Array
    std: Array  # standard error


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
