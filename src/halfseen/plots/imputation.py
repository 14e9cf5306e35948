"""Whether filled gaps can be trusted: known values, hidden and filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.data.rows import whole_table
from halfseen.data.sampling import sample_counts
from halfseen.diagnostics.concerns.concern import MOST_FEATURES, MOST_STORED
from halfseen.diagnostics.held_out_cells import (
    SPREADS,
    HiddenValues,
    hide_and_fill,
    hide_and_fill_sparse,
)
from halfseen.diagnostics.number_of_components import telling_features
from halfseen.estimators.reading import same_rows
from halfseen.moments.survey import survey
from halfseen.plots.canvas import BLUE, ORANGE, axes, without_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 5000  # that are drawn, for pictures of pages stay small


def imputation_check(
    model: Any,
    X: Any,
    *,
    fraction: float = 0.1,
    random_state: Any = 0,
    ax: Axes | None = None,
) -> Axes:
    """Known values of ``X`` that were hidden from the model, against what it filled in.

    Both in standard deviations of their feature, from its mean, so that all features fit on one
    picture. Values of features that have gaps are hidden together as they are missing in other
    rows; those of complete features one by one. The legend says how much of the hidden values'
    variance the model explains (0 is no better than the mean), and how many lie within two of its
    predictive standard deviations, beside how many of the model's own draws do: if far fewer, its
    standard deviations are too small. The model may have seen the values when it was fitted; rows
    that it has not seen are a harder test. Of sparse tables some rows, and the features that vary
    most, are enough.

    Parameters
    ----------
    model : a fitted estimator of this package
        The model that fills.
    X : array or data frame of shape (n, d), or anything else that ``fit`` takes
        The rows.
    fraction : float, default=0.1
        The fraction of observed values to hide, about.
    random_state : int, RandomState or None, default=0
        Seeds the choice of values to hide.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    fitted = model.fitted
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must be above 0 and below 1. Got {fraction!r} instead.")
    rows, how = same_rows(model, X), {"fraction": fraction, "random_state": random_state}
    if rows.sparse:
        seen = survey(rows, 1.0)
        some = telling_features(rows, seen, seen.kept & fitted.kept, MOST_FEATURES)
        found = hide_and_fill_sparse(fitted, sample_counts(rows, MOST_STORED), some, **how)
    else:
        found = hide_and_fill(fitted, whole_table(rows), **how)
    return _draw(axes(ax, 5.0, 5.0), found)


def _draw(ax: Axes, found: HiddenValues) -> Axes:
    true, guess = found.true, found.guess
    shown = slice(None, None, -(-len(true) // MOST_POINTS))
    low, high = np.quantile(np.concatenate([true, guess]), [0.001, 0.999])
    edge = 0.05 * (high - low)
    ax.axline((0, 0), slope=1, color=ORANGE, linestyle="--", label="filled = true")
    ax.plot(
        guess[shown],
        true[shown],
        "o",
        markersize=3,
        alpha=0.3,
        color=BLUE,
        markeredgewidth=0,
        label=f"{len(true):,} hidden values:\n{found.explained():.0%} of variance explained,\n"
        f"{found.within:.0%} within ±{SPREADS:g} predicted sd "
        f"({found.expected_within:.0%} expected)",
    )
    ax.set_xlim(low - edge, high + edge)
    ax.set_ylim(low - edge, high + edge)
    ax.set_aspect("equal")
    ax.set_xlabel("filled in (standard deviations)")
    ax.set_ylabel("true (standard deviations)")
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False, fontsize="small")
    return without_frame(ax)
