"""Counts: what columns of them must hold, and how they are drawn."""

from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.formatting import features, quoted
from halfseen.moments.survey import Survey

MOST_COUNTED = 2.0**50
"""Of larger ones sums and halves are no whole numbers any more."""


def poisson(random: Any, rates: Array) -> Array:
    """Counts of these rates; beyond what can be counted, the rates themselves.

    These vary by less than a millionth of a percent, and generators refuse them.
    """
    counts: Array = random.poisson(np.minimum(rates, MOST_COUNTED)).astype(float)
    return np.where(rates > MOST_COUNTED, np.floor(rates), counts)


def check_counts(seen: Survey) -> None:
    """Counts are whole numbers of at least zero."""
    negative = np.flatnonzero(seen.sums.minimum < 0)
    if len(negative):
        raise DataError(
            f"Negative values in data: {quoted(seen.names, negative)} should hold counts. "
            "Use NaN, not a negative number, for a count that is missing."
        )
    fractional = np.flatnonzero(~seen.sums.whole)
    if len(fractional):
        raise DataError(
            f"{features(seen.names, fractional)} should hold counts, but some values are not whole "
            "numbers. Use raw counts, not rates or proportions, or GaussianMixture for "
            "measurements."
        )

    large = np.flatnonzero((seen.sums.maximum > MOST_COUNTED) & (seen.sums.count > 0))
    if len(large):
        worst = large[np.argmax(seen.sums.maximum[large])]
        raise DataError(
            f"{features(seen.names, large)} should hold counts, but '{seen.names[worst]}' holds "
            f"{seen.sums.maximum[worst]:.6g}, more than can be counted ({MOST_COUNTED:.2g}). Use "
            "NaN for a count that is missing, or GaussianMixture for measurements."
        )
