"""What stands out of the noise in the second moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.diagnostics.concerns.fit import noise_of_spectrum
from halfseen.inference.fit import noise_level
from halfseen.plots.canvas import BLUE, GREY, ORANGE, axes, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAR_APART = 30.0
"""Above so many noise levels a linear axis would hide what is near the noise."""


def spectrum(model: Any, X: Any = None, *, groups: Any = None, ax: Axes | None = None) -> Axes:
    """Eigenvalues of the weighted signal, largest first, and the level of their noise.

    Eigenvalues that were kept should be clearly above that level (if not, use fewer components),
    and those left out should not be (if some are, far above the others, use more). With the table
    the level is what 99 % of bootstrap replicates of pure noise stay below. Without it, it is a
    guess: the noise of the model itself has been taken off, so eigenvalues without signal scatter
    about zero, to both sides nearly alike, and the lowest shows how far.

    Parameters
    ----------
    model : a fitted estimator of this package
        Whose ``diagnostics_.spectrum`` is drawn.
    X : array or data frame of shape (n, d), path or list of batches, default=None
        The table that the model was learned from.
    groups : array of shape (n,) or None, default=None
        A label for each row of X if rows depend on each other.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    seen = model.fitted.diagnostics
    values, n_kept = seen.spectrum, seen.n_kept_eigenvalues
    noise = None if X is None else noise_of_spectrum(model.case(X, groups))
    if noise is None:
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
