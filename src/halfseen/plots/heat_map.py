"""What the components are: means that differ, or the words of topics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.plots.canvas import LINE, SMALLEST_TEXT, axes, height_for, labels, name_rows
from halfseen.report.portrait import HeatMap
from halfseen.report.registry import portrait_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

LETTER = 0.62
"""Width of a letter, in heights of letters."""


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
    high = extent.height * points / len(texts) / n_lines / LINE
    wide = extent.width * points / len(texts[0]) / max(longest, 1) / LETTER
    return float(min(high, wide))


def _write(ax: Axes, image: AxesImage, values: Array, texts: list[list[str]]) -> None:
    """Text in the cells, dark on light and light on dark."""
    size = float(np.clip(_room(ax, texts), SMALLEST_TEXT, 8.0))
    colours = np.asarray(image.to_rgba(np.ma.masked_invalid(values)))
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            luminance = float(colours[i, j, :3] @ (0.299, 0.587, 0.114))
            dark = luminance > 0.5
            ax.text(
                j,
                i,
                text,
                ha="center",
                va="center",
                fontsize=size,
                color="black" if dark else "white",
            )
