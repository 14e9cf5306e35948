"""What the components are: means that differ, or the words of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfseen.plots.canvas import (
    LINE,
    SMALLEST_TEXT,
    axes,
    height_for,
    labels,
    name_rows,
    shortened,
)
from halfseen.rows.arrays import Array
from halfseen.tables.arrays_and_frames import feature_names

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
        With means (``means_``) or topics (``components_``).
    n_words : int, default=10
        How many words of each topic are listed.
    ax : matplotlib Axes or None, default=None
        Where to draw.
    """
    check_is_fitted(model)
    return (_topics if hasattr(model, "components_") else _means)(model, n_words, ax)


def _means(model: Any, n_words: int, ax: Axes | None) -> Axes:
    order = np.argsort(-model.weights_, kind="stable")
    means = model.means_[order].T  # (d, k)
    scores = _scores(model)[order].T
    n_features, k = means.shape
    ax = axes(ax, 3.5 + 0.8 * k, height_for(n_features))
    most = float(np.nanmax(np.abs(scores), initial=1.0))
    image = ax.imshow(scores, aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
    image.set_cmap(image.cmap.with_extremes(bad="#d9d9d9"))
    name_rows(ax, labels(feature_names(model)))
    texts = [[_number(mean) for mean in row] for row in means]
    if _room(ax, texts) >= SMALLEST_TEXT:
        _write(ax, image, scores, texts)
    _name_columns(ax, "component", model.weights_[order])
    ax.set_ylabel("feature")
    _explain(ax, image, "standard deviations\nfrom the mean of all rows")
    return ax


def _scores(model: Any) -> Array:
    """Means in the features' standard deviations from their common mean; (k, d)."""
    share = model.weights_[:, None]
    covariances = np.asarray(model.covariances_)
    variances = covariances[:, None] if covariances.ndim == 1 else covariances
    centred = model.means_ - (share * model.means_).sum(axis=0)
    variance = (share * (variances + centred**2)).sum(axis=0)
    scores: Array = np.full(model.means_.shape, np.nan)
    kept = model.kept_features_
    scores[:, kept] = centred[:, kept] / np.sqrt(variance[kept])
    return scores


def _topics(model: Any, n_words: int, ax: Axes | None) -> Axes:
    shares = model.shapes_ / model.shapes_.sum()
    order = np.argsort(-shares, kind="stable")
    topics = model.components_[order]  # (k, d)
    names = feature_names(model)
    top = np.argsort(-topics, axis=1, kind="stable")[:, :n_words].T  # (n_words, k)
    values = np.take_along_axis(topics.T, top, axis=0)
    ax = axes(ax, 1.5 + 1.6 * len(order), height_for(2 * len(top)))
    image = ax.imshow(values, aspect="auto", cmap="Blues", vmin=0.0)
    _write(
        ax,
        image,
        values,
        [
            [f"{shortened(names[i], 18)}\n{value:.2g}" for i, value in zip(*row, strict=True)]
            for row in zip(top, values, strict=True)
        ],
    )
    name_rows(ax, [str(rank) for rank in range(1, len(top) + 1)])
    _name_columns(ax, "topic", shares[order])
    ax.set_ylabel("rank of the word in the topic")
    _explain(ax, image, "share of the word in the topic")
    return ax


def _name_columns(ax: Axes, kind: str, shares: Array) -> None:
    words = [f"{i}\n{share:.0%}".replace("%", " %") for i, share in enumerate(shares, start=1)]
    ax.set_xticks(range(len(shares)), words)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel(f"{kind}, and how common it is")


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3g}"


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


def _explain(ax: Axes, image: AxesImage, words: str) -> None:
    ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.02, label=words)
