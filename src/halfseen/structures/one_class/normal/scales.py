"""A warning about features that have no noise in common."""

from collections.abc import Sequence

from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array
from halfseen.rows.errors import WeakMomentsWarning, warn
from halfseen.rows.naming import quoted

FAR_APART = 1000.0
"""Features whose values spread this much further apart have no noise in common."""


def warn_of_ranges(seen: Survey) -> None:
    """The same by the ranges of a table that is taken at its word."""
    kept = seen.of_kept()
    warn_of_scales(kept.names, kept.sums.maximum - kept.sums.minimum)


def warn_of_scales(names: Sequence[str], widths: Array) -> None:
    """A spherical mixture of features in very different units sees only the largest."""
    if len(widths) and widths.max() > FAR_APART * widths.min():
        wide, narrow = int(widths.argmax()), int(widths.argmin())
        warn(
            f"Features are on very different scales ({quoted(names, [wide])} ranges over "
            f"{widths.max():.3g}, {quoted(names, [narrow])} over {widths.min():.3g}), but a "
            "spherical mixture has the same noise in all. Use covariance_type='tied_diag', or "
            "scale='robust'.",
            WeakMomentsWarning,
        )
