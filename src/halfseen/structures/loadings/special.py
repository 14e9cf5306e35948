"""Special functions: for compiled kernels, which cannot call SciPy's, and such as it lacks."""

import math

import numpy as np
from scipy.special import digamma as scipys_digamma
from scipy.special import polygamma

from halfseen.rows.arrays import Array
from halfseen.rows.compiled import njit


def inverse_digamma(y: Array) -> Array:
    """The x with ψ(x) = y, by Newton from Minka's start."""
    x = np.where(y >= -2.22, np.exp(y) + 0.5, -1 / (y - scipys_digamma(1.0)))
    for _ in range(5):
        x = x - (scipys_digamma(x) - y) / polygamma(1, x)
    return np.asarray(x)


@njit(cache=True, nogil=True)
def digamma(x: float) -> float:  # pragma: no cover - compiled
    """``ψ(x)`` for x > 0: recurrence up to eight, then the asymptotic series.

    Abramowitz and Stegun 6.3.5 and 6.3.18.
    """
    value = 0.0
    for _ in range(8):
        if x < 8.0:
            value -= 1.0 / x
            x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132)))
    )
    return value + math.log(x) - 0.5 / x - series
