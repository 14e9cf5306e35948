"""Scales on which learned numbers are nearly normal, and move freely."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from halfseen.rows.arrays import Array


class Scale(NamedTuple):
    """Where estimates are nearly normal, and the way back."""

    to: Callable[[Array], Array]
    back: Callable[[Array], Array]
    probability: bool = False  # estimated from rows that show it or not, and zero if none does
    sums_along: int | None = None  # the side along which probabilities sum to one, if any


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
SHARE = Scale(_logit, expit, probability=True, sums_along=-1)
FRACTION = Scale(_logit, expit, probability=True)  # may well be zero
CLIPPED = Scale(_same, lambda values: np.clip(values, 0.0, 1.0))  # shares that moments may miss
DEFINITE = Scale(_same, _same)  # symmetric matrices that stay positive definite
