"""Means on one axis, how sure each is, and how far values lie from it: a line for each."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from halfseen.data.formatting import number
from halfseen.report.charts.drawing import (
    BLUE,
    DARK,
    GREY,
    PALE,
    WIDTH,
    Figure,
    box,
    dot,
    mark,
    picture,
    room_for,
    text,
)
from halfseen.report.charts.markup import Markup

MOST_LEFT, HEIGHT, FOOT = 110.0, 18.0, 16.0
MARGIN = 6.0


class Spread(NamedTuple):
    """A line of the chart."""

    name: str
    mean: float
    spread: float  # to both sides
    error: float  # the same, of the mean
    words: str
    withheld: bool


def spreads_chart(title: str, caption: str, lines: Sequence[Spread], head: str) -> Figure:
    """Lines below each other."""
    shown = [one for one in lines if not one.withheld]
    low = min((one.mean - max(one.spread, one.error) for one in shown), default=0.0)
    high = max((one.mean + max(one.spread, one.error) for one in shown), default=1.0)
    left = room_for((one.name for one in lines), MOST_LEFT)
    unit = (WIDTH - left - 2 * MARGIN) / ((high - low) or 1.0)

    def at(value: float) -> float:
        return left + MARGIN + unit * (value - low)

    parts = []
    for i, one in enumerate(lines):
        y = i * HEIGHT
        parts.append(text(left - 5, y + HEIGHT - 5, one.name, "end", size=10))
        parts.append(_line(one, (left, y), at, unit))
    bottom = len(lines) * HEIGHT
    parts.append(text(at(low), bottom + 11, number(low), size=10))
    parts.append(text(at(high), bottom + 11, number(high), "end", size=10))
    table = tuple((one.name, "" if one.withheld else one.words) for one in lines)
    return Figure(title, caption, picture(title, bottom + FOOT, parts), ("", head), table)


def _line(
    one: Spread, place: tuple[float, float], at: Callable[[float], float], unit: float
) -> Markup:
    left, y = place
    if one.withheld:
        back = box(left, y + 2, WIDTH - left, HEIGHT - 4, PALE)
        words = text((left + WIDTH) / 2, y + HEIGHT - 5, "withheld", "middle", GREY, 10)
        return mark(f"{one.name}: withheld, as few rows stand behind it", back, words)
    return mark(
        f"{one.name}: {one.words}",
        box(at(one.mean - one.spread), y + 4, 2 * one.spread * unit, HEIGHT - 8, PALE),
        box(at(one.mean - one.error), y + 6, 2 * one.error * unit, HEIGHT - 12, BLUE),
        dot(at(one.mean), y + HEIGHT / 2, 3, BLUE, DARK),
    )
