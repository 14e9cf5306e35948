"""How sure the model is of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfseen.plots.canvas import BLUE, ORANGE, axes, plain
from halfseen.rows.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 25
SURE = 0.9


def posterior_uncertainty(model: Any, X: Any, *, ax: Axes | None = None) -> Axes:
    """How sure the model is of the latent variables of each row, as a histogram of rows.

    Of a mixture: the probability of a row's most probable component. If the model is right, its
    mean is the fraction of rows put into the right component. Of topics: the standard deviation of
    a row's largest loading, relative to the loading.

    Parameters
    ----------
    model : a fitted estimator of this package
        The model.
    X : array or data frame of shape (n, d)
        The rows.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    check_is_fitted(model)
    return (_probabilities if hasattr(model, "predict_proba") else _loadings)(model, X, ax)


def _probabilities(model: Any, X: Any, ax: Axes | None) -> Axes:
    surest = model.predict_proba(X).max(axis=1)
    mean = float(surest.mean())
    ax = _histogram(ax, surest, (1 / model.n_components_ if model.n_components_ > 1 else 0.0, 1.0))
    unsure = float((surest < SURE).mean())
    label = f"mean {mean:.2f}\n({unsure:.0%} of rows below {SURE:g})"
    ax.axvline(mean, color=ORANGE, linestyle="--", label=label)
    ax.set_xlabel("probability of the row's most probable component")
    ax.legend(frameon=False)
    return ax


def _loadings(model: Any, X: Any, ax: Axes | None) -> Axes:
    mean, spread = model.posterior(X)
    largest = mean.argmax(axis=1)[:, None]
    relative = np.take_along_axis(spread / mean, largest, axis=1)[:, 0]
    middle = float(np.median(relative))
    ax = _histogram(ax, relative, (0.0, float(max(relative.max(), 1e-9))))
    ax.axvline(middle, color=ORANGE, linestyle="--", label=f"median {middle:.2f}")
    ax.set_xlabel("standard deviation of the row's largest loading, relative to the loading")
    ax.legend(frameon=False)
    return ax


def _histogram(ax: Axes | None, values: Array, span: tuple[float, float]) -> Axes:
    ax = axes(ax, 6.0, 4.0)
    ax.hist(values, bins=N_BINS, range=span, color=BLUE, edgecolor="white", linewidth=0.5)
    ax.set_xlim(*span)
    ax.set_ylabel("rows")
    plain(ax)
    return ax
