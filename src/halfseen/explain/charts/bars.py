"""A bar a line, with names at the left."""

from collections.abc import Sequence
from typing import NamedTuple

from halfseen.explain.charts.drawing import (
    BLUE,
    LABELS,
    LINE,
    ORANGE,
    PALE,
    WIDTH,
    Figure,
    box,
    label,
    mark,
    picture,
    text,
)

MOST = 40


class Bar(NamedTuple):
    """A line of the chart."""

    name: str
    value: float  # 0 to 1
    words: str  # at the end of the bar
    tip: str
    tick: float | None = None  # something to compare with, 0 to 1


def bar_chart(
    title: str, caption: str, bars: Sequence[Bar], head: tuple[str, str] = ("", "")
) -> Figure:
    """Bars from the first to the last, of which there may be at most 40."""
    shown = bars[:MOST]
    end = WIDTH - 46
    parts = []
    for number, bar in enumerate(shown):
        y = number * LINE
        length = (end - LABELS) * min(max(bar.value, 0.0), 1.0)
        shapes = [
            label(y + LINE / 2, bar.name),
            box(LABELS, y + 4, end - LABELS, LINE - 8, PALE),
            box(LABELS, y + 4, length, LINE - 8, BLUE),
            text(end + 5, y + LINE / 2 + 4, bar.words),
        ]
        if bar.tick is not None:
            shapes.append(box(LABELS + (end - LABELS) * bar.tick - 1.5, y + 2, 3, LINE - 4, ORANGE))
        parts.append(mark(bar.tip, *shapes))
    if len(bars) > MOST:
        caption += f" The first {MOST} of {len(bars)} are drawn."
    rows = tuple((bar.name, bar.tip) for bar in shown)
    return Figure(title, caption, picture(title, len(shown) * LINE, parts), head, rows)
