"""Tables whose columns have no noise in common."""

import numpy as np

from halfseen.moments.survey import Survey
from halfseen.rows.errors import WeakMomentsWarning, warn
from halfseen.rows.naming import quoted

FAR_APART = 1000.0
"""Ranges of features further apart than this have no noise in common."""


def warn_of_scales(seen: Survey) -> None:
    """A spherical mixture of features in very different units sees only the largest."""
    kept = np.flatnonzero(seen.kept)
    ranges = (seen.sums.maximum - seen.sums.minimum)[kept]
    if len(kept) and ranges.max() > FAR_APART * ranges.min():
        wide, narrow = kept[ranges.argmax()], kept[ranges.argmin()]
        warn(
            f"Features are on very different scales ({quoted(seen.names, [wide])} ranges over "
            f"{ranges.max():.3g}, {quoted(seen.names, [narrow])} over {ranges.min():.3g}), but a "
            "spherical mixture has the same noise in all. Scale them, or use "
            "covariance_type='diag'.",
            WeakMomentsWarning,
        )
