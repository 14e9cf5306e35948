"""What the groups or topics are: a cell for each feature in each."""

import numpy as np

from halfseen.explain.charts.drawing import (
    DARK,
    LABELS,
    WIDTH,
    Figure,
    as_hex,
    blend,
    box,
    label,
    mark,
    on_colour,
    picture,
    text,
)
from halfseen.explain.shown import Shown
from halfseen.explain.words import number, percent
from halfseen.rows.arrays import Array

MOST = 40
CELL_HEIGHT = 22.0
NARROWEST = 46.0
BLUE, RED = (33, 102, 172), (178, 24, 43)


def groups_chart(model: Shown, low: Array | None, high: Array | None) -> Figure:
    """Means of the groups, coloured by how far they are from average.

    ``low`` and ``high`` (k, d) are the ends of 95 % intervals, in own units.
    """
    chosen = _most_telling(np.abs(model.scores).max(axis=0))
    colours = [[_diverging(model.scores[k, d]) for k in range(model.k)] for d in chosen]
    texts = [[number(model.centres[k, d]) for k in range(model.k)] for d in chosen]
    tips = []
    for d in chosen:
        line = []
        for k in range(model.k):
            tip = f"{model.names[d]} in group {k + 1}: {number(model.centres[k, d])}"
            if low is not None and high is not None and np.isfinite(high[k, d]):
                tip += f" (between {number(low[k, d])} and {number(high[k, d])})"
            line.append(f"{tip}; average of all rows {number(model.average[d])}")
        tips.append(line)
    return _drawn(
        "What the groups are like",
        "Average of each column in each group. Red is above the average of all rows, blue below; "
        "the stronger the colour, the further."
        + (" Averages of columns on a log scale are geometric." if model.geometric.any() else ""),
        model,
        chosen,
        colours,
        texts,
        tips,
    )


def topics_chart(model: Shown, low: Array | None, high: Array | None) -> Figure:
    """Shares of words in the topics; ``low`` and ``high`` (k, d) as for groups."""

    def between(k: int, d: int) -> str:
        if low is None or high is None:
            return ""
        return f" (between {100 * low[k, d]:.2g}% and {100 * high[k, d]:.2g}%)"

    top = {int(d) for topic in model.centres for d in np.argsort(-topic, kind="stable")[:10]}
    main = model.centres.argmax(axis=0)
    chosen = sorted(top, key=lambda d: (main[d], -model.centres[main[d], d]))[:MOST]
    most = float(model.centres.max())
    shade = np.sqrt(model.centres / most)
    colours = [[blend(shade[k, d], BLUE) for k in range(model.k)] for d in chosen]
    texts = [[percent(model.centres[k, d]) for k in range(model.k)] for d in chosen]
    tips = [
        [
            f"{model.names[d]} is {100 * model.centres[k, d]:.2g}% of topic {k + 1}"
            f"{between(k, d)}, and {100 * model.average[d]:.2g}% of all"
            for k in range(model.k)
        ]
        for d in chosen
    ]
    caption = "Share of each column in each topic, for the most common columns of every topic."
    return _drawn("What the topics are like", caption, model, chosen, colours, texts, tips)


def _most_telling(strength: Array) -> list[int]:
    """Features in their order, without the least telling if there are too many."""
    kept = np.argsort(-strength, kind="stable")[:MOST]
    return sorted(map(int, kept))


def _diverging(score: float) -> tuple[float, float, float]:
    return blend(min(abs(score) / 2, 1.0), RED if score > 0 else BLUE)


def _drawn(
    title: str,
    caption: str,
    model: Shown,
    chosen: list[int],
    colours: list[list[tuple[float, float, float]]],
    texts: list[list[str]],
    tips: list[list[str]],
) -> Figure:
    cell = max((WIDTH - LABELS) / model.k, NARROWEST)
    width = LABELS + cell * model.k
    parts = []
    for k in range(model.k):
        parts.append(text(LABELS + (k + 0.5) * cell, 12, str(k + 1), "middle", DARK))
        parts.append(text(LABELS + (k + 0.5) * cell, 25, percent(model.shares[k]), "middle"))
    parts.append(text(LABELS - 6, 12, model.kind, "end"))
    parts.append(text(LABELS - 6, 25, "share", "end"))
    for row, d in enumerate(chosen):
        y = 32 + row * CELL_HEIGHT
        parts.append(label(y + CELL_HEIGHT / 2, model.names[d]))
        for k in range(model.k):
            x, colour = LABELS + k * cell, colours[row][k]
            parts.append(
                mark(
                    tips[row][k],
                    box(x + 0.5, y + 0.5, cell - 1, CELL_HEIGHT - 1, as_hex(colour)),
                    text(
                        x + cell / 2,
                        y + CELL_HEIGHT / 2 + 4,
                        texts[row][k],
                        "middle",
                        on_colour(*colour),
                        10,
                    ),
                )
            )
    if len(chosen) < len(model.names):
        caption += f" The {len(chosen)} most telling of {len(model.names)} columns are drawn."
    drawing = picture(title, 34 + len(chosen) * CELL_HEIGHT, parts, width)
    head = ("column", *(f"{model.kind} {k + 1}" for k in range(model.k)))
    rows = tuple((model.names[d], *texts[row]) for row, d in enumerate(chosen))
    return Figure(title, caption, drawing, head, rows, width)
