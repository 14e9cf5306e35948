"""What stands out of the noise in the second moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfseen.estimators.diagnostics import noise_level
from halfseen.plots.canvas import BLUE, GREY, ORANGE, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR_APART = 30.0
"""Above so many noise levels a linear axis would hide what is near the noise."""


def spectrum(model: Any, *, ax: Axes | None = None) -> Axes:
    """Eigenvalues of the weighted signal, largest first, and the level of their noise.

    The noise of the model itself has been taken off, so eigenvalues without signal scatter about
    zero, to both sides nearly alike: the lowest shows how far. Eigenvalues that were kept should be
    clearly above that level (if not, use fewer components), and those left out should not be (if
    some are, far above the others, use more). With few rows for many features pure noise reaches
    somewhat further up than down.

    Parameters
    ----------
    model : a fitted estimator of this package
        Whose ``diagnostics_.spectrum`` is drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    check_is_fitted(model)
    values, n_kept = model.diagnostics_.spectrum, model.diagnostics_.n_kept_eigenvalues
    noise = noise_level(values)
    number = np.arange(1, len(values) + 1)
    n_left = len(values) - n_kept
    ax = axes(ax, 6.0, 4.0)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    if noise > 0:
        ax.axhspan(
            -noise, noise, color=GREY, alpha=0.2, linewidth=0, label=f"noise level ±{noise:.3g}"
        )
    ax.plot(number[:n_kept], values[:n_kept], "o", color=BLUE, label=f"kept: {n_kept}")
    ax.plot(
        number[n_kept:],
        values[n_kept:],
        "s",
        color=ORANGE,
        markerfacecolor="none",
        label=f"left out: {n_left}",
    )
    if noise > 0 and values[0] > FAR_APART * noise:
        ax.set_yscale("symlog", linthresh=10 ** np.ceil(np.log10(noise)))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.set_xlabel("eigenvalue, largest first")
    ax.set_ylabel("eigenvalue of the weighted signal\n(squared units of the table)")
    ax.legend(frameon=False)
    plain(ax)
    return ax
