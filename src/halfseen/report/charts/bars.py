"""Bar charts."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from halfseen.report.charts import drawing as svg

MOST_BARS, MANY = 40, 14
"""Bars that are drawn at all, and in one drawing: more are cut into two."""


class Bar(NamedTuple):
    """One bar."""

    name: str
    value: float  # 0 to 1
    words: str  # at the end of the bar
    tip: str
    tick: float | None = None  # something to compare with, 0 to 1


def bar_chart(
    title: str, caption: str, bars: Sequence[Bar], head: tuple[str, str] = ("", "")
) -> svg.Figure:
    """A bar chart of at most 40 bars."""
    shown = bars[:MOST_BARS]
    left = svg.room_for(bar.name for bar in shown)
    half = (len(shown) + 1) // 2
    parts = [shown[:half], shown[half:]] if len(shown) > MANY else [shown]
    drawings = [_drawing(title, part, left) for part in parts]
    if len(bars) > MOST_BARS:
        caption += f" The first {MOST_BARS} of {len(bars):,} are drawn."
    rows = tuple((bar.name, bar.tip) for bar in shown)
    drawing = svg.panels(drawings) if len(parts) > 1 else drawings[0]
    return svg.Figure(title, caption, drawing, head, rows, panels=len(parts) > 1)


def _drawing(title: str, bars: Sequence[Bar], left: float) -> Markup:
    end, y, parts = svg.WIDTH - 46, 0.0, []
    for bar in bars:
        name = svg.wrapped(bar.name, left - 8)
        high = svg.height_of(name)
        middle, top = y + high / 2, y + high / 2 - 6
        wide = (end - left) * min(max(bar.value, 0.0), 1.0)
        shapes = [
            svg.label(left, middle, name),
            svg.box(left, top, end - left, 12, svg.PALE),
            svg.box(left, top, wide, 12, svg.BLUE),
            svg.text(end + 5, middle + 4, bar.words),
        ]
        if bar.tick is not None:
            shapes.append(svg.box(left + (end - left) * bar.tick - 1.5, top - 2, 3, 16, svg.ORANGE))
        parts.append(svg.mark(bar.tip, *shapes))
        y += high
    return svg.picture(title, y, parts)
