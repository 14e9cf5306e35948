"""How much each feature counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.plots.canvas import BLUE, ORANGE, axes, height_for, labels, name_rows, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def feature_weights(model: Any, *, ax: Axes | None = None) -> Axes:
    """The weight of each feature in the fit, largest on top, beside how often it is observed.

    Parameters
    ----------
    model : a fitted estimator of this package
        Whose ``feature_weights_`` are drawn. Features it left out are marked.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    fitted = model.fitted
    weights, observed, kept = fitted.feature_weights, fitted.observed_fraction, fitted.kept
    order = np.lexsort((-observed, -weights))
    names = labels(fitted.names)
    lines = [names[i] if kept[i] else f"{names[i]} (left out)" for i in order]
    places = np.arange(len(order))
    ax = axes(ax, 6.0, height_for(len(order)))
    bars = ax.barh(places, weights[order], height=0.7, color=BLUE, label="weight in the fit")
    (dots,) = ax.plot(
        observed[order],
        places,
        linestyle="none",
        marker="o",
        markersize=5,
        color=ORANGE,
        markeredgecolor="white",
        markeredgewidth=0.5,
        label="fraction of rows observed",
    )
    name_rows(ax, lines)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("weight, and fraction of rows observed (no unit)")
    ax.set_ylabel("feature")
    ax.legend(
        handles=[bars, dots], loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False
    )
    plain(ax)
    return ax
