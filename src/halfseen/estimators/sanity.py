"""Signs that a model does not suit its table, told when it is fitted."""

import warnings

import numpy as np

from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.errors import WeakMomentsWarning
from halfseen.rows.naming import quoted

FAR_APART = 1000.0
"""Ranges of features further apart than this have no noise in common."""


def warn_of_scales(seen: Survey) -> None:
    """A spherical mixture of features in very different units sees only the largest."""
    kept = np.flatnonzero(seen.kept)
    ranges = (seen.sums.maximum - seen.sums.minimum)[kept]
    if len(kept) and ranges.max() > FAR_APART * ranges.min():
        wide, narrow = kept[ranges.argmax()], kept[ranges.argmin()]
        warnings.warn(
            f"Features are on very different scales ({quoted(seen.names, [wide])} ranges over "
            f"{ranges.max():.3g}, {quoted(seen.names, [narrow])} over {ranges.min():.3g}), but a "
            "spherical mixture has the same noise in all. Scale them, or use "
            "covariance_type='diag'.",
            WeakMomentsWarning,
            stacklevel=6,
        )


def warn_of_empty(kind: str, weights: Array, n_rows: float) -> None:
    """A component that less than one row belongs to is one too many."""
    empty = np.flatnonzero(weights < 1 / n_rows)
    if len(empty):
        names = [str(k) for k in range(len(weights))]
        warnings.warn(
            f"{kind} {quoted(names, empty)} ended with less than one row's weight: the data "
            f"support fewer. Use at most {len(weights) - len(empty)} components.",
            WeakMomentsWarning,
            stacklevel=4,
        )
