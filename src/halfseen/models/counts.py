"""What tables of counts must hold."""

import numpy as np

from halfseen.moments.survey import Survey
from halfseen.rows.errors import DataError
from halfseen.rows.naming import features, quoted


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
