"""Special functions for compiled kernels, which cannot call SciPy's."""

import math

from halfseen.rows.compiled import njit


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
