"""What was learned: components, weights of features, eigenvalues, and how sure rows are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.diagnostics.concerns.fit import noise_of_spectrum
from halfseen.estimators.reading import same_rows
from halfseen.inference.fit import noise_level
from halfseen.plots.canvas import (
    BLUE,
    GREY,
    LINE_HEIGHT,
    ORANGE,
    SMALLEST_TEXT,
    axes,
    height_for,
    labels,
    name_rows,
    without_frame,
)
from halfseen.report.portrait import HeatMap
from halfseen.report.registry import portrait_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

N_BINS = 25  # of the histogram of rows
MOST_LINEAR = 30.0  # noise levels above which a linear axis would hide what is near the noise
LETTER_WIDTH = 0.62  # in heights of letters, on average over names and numbers


def components(model: Any, *, n_words: int = 10, ax: Axes | None = None) -> Axes:
    """The components, the most common first: a heat map with a column for each.

    Of a mixture the colour is how far a component's mean is from the mean of all rows, in the
    feature's standard deviations, and the number is the mean itself. Of topics each column lists
    the words with the largest shares, coloured by share.

    Parameters
    ----------
    model : a fitted estimator of this package
        Whose components are drawn.
    n_words : int, default=10
        How many words of each topic are listed.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    fitted = model.fitted
    view = portrait_of(replace(fitted, preprocessing=None))  # as it was fitted
    drawn = view.heat_map(n_words)
    first, each = drawn.wide
    ax = axes(ax, first + each * view.k, height_for(drawn.high))
    image = _image(ax, drawn)
    name_rows(ax, labels(drawn.lines))
    if drawn.needed or _room(ax, drawn.texts) >= SMALLEST_TEXT:
        _write(ax, image, drawn.values, drawn.texts)
    words = [f"{i}\n{share:.0%}".replace("%", " %") for i, share in enumerate(view.shares, start=1)]
    ax.set_xticks(range(view.k), words)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(f"{drawn.column}, and how common it is")
    ax.set_ylabel(drawn.line)
    ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.02, label=drawn.colour)
    return ax


def _image(ax: Axes, drawn: HeatMap) -> AxesImage:
    if not drawn.about_zero:
        return ax.imshow(drawn.values, aspect="auto", cmap="Blues", vmin=0.0)
    most = float(np.nanmax(np.abs(drawn.values), initial=1.0))
    image = ax.imshow(drawn.values, aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
    image.set_cmap(image.cmap.with_extremes(bad="#d9d9d9"))
    return image


def _room(ax: Axes, texts: list[list[str]]) -> float:
    """The size of text, in points, that fits into the cells."""
    extent = ax.get_window_extent()
    points = 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    n_lines = max(text.count("\n") + 1 for row in texts for text in row)
    longest = max(len(part) for row in texts for text in row for part in text.split("\n"))
    high = extent.height * points / len(texts) / n_lines / LINE_HEIGHT
    wide = extent.width * points / len(texts[0]) / max(longest, 1) / LETTER_WIDTH
    return float(min(high, wide))


def _write(ax: Axes, image: AxesImage, values: Array, texts: list[list[str]]) -> None:
    """Text in the cells, dark on light and light on dark."""
    size = float(np.clip(_room(ax, texts), SMALLEST_TEXT, 8.0))
    colours = np.asarray(image.to_rgba(np.ma.masked_invalid(values)))
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            luminance = float(colours[i, j, :3] @ (0.299, 0.587, 0.114))
            colour = "black" if luminance > 0.5 else "white"
            ax.text(j, i, text, ha="center", va="center", fontsize=size, color=colour)


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
    return without_frame(ax)


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
        label=f"left out: {len(values) - n_kept}",
    )
    if noise > 0 and values[0] > MOST_LINEAR * noise:
        ax.set_yscale("symlog", linthresh=10 ** np.ceil(np.log10(noise)))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlim(0.5, len(values) + 0.5)
    ax.set_xlabel("eigenvalue, largest first")
    ax.set_ylabel("eigenvalue of the weighted signal\n(squared units of the table)")
    ax.legend(frameon=False)
    return without_frame(ax)


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
    return without_frame(ax)
