"""Axes, and readable labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from halfseen.data.formatting import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE = "#0072B2"
ORANGE = "#D55E00"
SKY = "#56B4E9"
GREY = "#767676"

LONGEST_NAME = 28  # letters, beyond which names are cut
LARGEST_TEXT = 9.0  # points
SMALLEST_TEXT = 5.0
LINE_HEIGHT = 1.25  # of a line of text, in heights of its letters


def axes(ax: Any, width: float, height: float) -> Axes:
    """``ax`` if given, or new axes on a figure of that size in inches."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.axes import Axes
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"Plots need {missing.name}, which is not installed. Install it with: "
            "pip install 'halfseen[plots]'",
            name=missing.name,
        ) from missing
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be one matplotlib Axes. Got {type(ax).__name__} instead; of several axes, "
            "give one, such as axes[0]."
        )
    return ax


def height_for(n_lines: int) -> float:
    """The height in inches for that many lines of names."""
    return float(np.clip(0.9 + 0.17 * n_lines, 3.2, 30.0))


def labels(names: Sequence[str]) -> list[str]:
    """Names shortened as far as they stay distinct."""
    for longest in range(LONGEST_NAME, max(map(len, names), default=0), 8):
        short = [shortened(name, longest) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names down the y axis at 0, 1, …, the first on top: as large as fits, or only every nth."""
    n_lines = len(names)
    ax.set_ylim(n_lines - 0.5, -0.5)
    room = ax.get_window_extent().height * 72 / ax.get_figure(root=True).dpi / max(n_lines, 1)  # type: ignore[union-attr]
    every = max(1, int(np.ceil(SMALLEST_TEXT * LINE_HEIGHT / room)))
    size = float(np.clip(room * every / LINE_HEIGHT, SMALLEST_TEXT, LARGEST_TEXT))
    shown = range(0, n_lines, every)
    ax.set_yticks(list(shown), [names[i] for i in shown], fontsize=size)
    ax.tick_params(axis="y", length=0)


def without_frame(ax: Axes) -> Axes:
    """Axes without their top and right frame."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax
