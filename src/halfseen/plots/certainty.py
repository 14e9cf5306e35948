"""How sure the model is of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from halfseen.estimators.prediction_input import same_rows
from halfseen.plots.canvas import BLUE, ORANGE, axes, plain
from halfseen.report.registry import portrait_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 25


def posterior_uncertainty(model: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """How sure the model is of the latent variables of each row, as a histogram of rows.

    Of a mixture: the probability of a row's most probable component. If the model is right, its
    mean is the fraction of rows put into the right component. Of topics: the standard deviation of
    a row's largest loading, relative to the loading.

    Parameters
    ----------
    model : a fitted estimator of this package
        The model.
    X : array or data frame of shape (n, d), or anything else that ``fit`` takes
        The rows.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    view = portrait_of(model)
    doubts = view.row_certainty(same_rows(model, X))
    axis, middle, told = doubts.on_paper
    span = (doubts.span[0], float(max(doubts.span[1], doubts.values.max(initial=0.0))))
    ax = axes(ax, 6.0, 4.0)
    ax.hist(doubts.values, bins=N_BINS, range=span, color=BLUE, edgecolor="white", linewidth=0.5)
    ax.set_xlim(*span)
    ax.axvline(middle, color=ORANGE, linestyle="--", label=told)
    ax.set_xlabel(axis)
    ax.set_ylabel("rows")
    ax.legend(frameon=False)
    plain(ax)
    return ax
