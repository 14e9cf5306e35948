"""Where numbers lie: a strip for each component."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import percent
from halfseen.report.charts.drawing import (
    BLUE,
    GREY,
    LETTERS,
    ORANGE,
    PAGE,
    PALE,
    WIDTH,
    Figure,
    area,
    box,
    height_of,
    line,
    mark,
    panels,
    picture,
    room_for,
    text,
    wrapped,
)
from halfseen.report.charts.markup import Markup

MOST_LEFT, HEIGHT = 110.0, 24.0


class Strip(NamedTuple):
    """A column of numbers."""

    name: str
    ends: tuple[str, str]  # of what is drawn
    masses: Array  # (rows, m)  of equally wide intervals
    spike: tuple[str, float, Array] | None  # a value of its own, where it is, and (rows,) shares
    steps: bool  # whether intervals are single values
    words: Sequence[str]  # of each row
    withheld: Sequence[bool]


def strips_chart(title: str, caption: str, strips: Sequence[Strip], rows: Sequence[str]) -> Figure:
    """Strips below each other, on one axis, in a drawing for each column."""
    left = room_for(rows, MOST_LEFT)
    table = tuple((strip.name, *(_told(strip, i) for i in range(len(rows)))) for strip in strips)
    drawings = panels(_drawing(strip, rows, left) for strip in strips)
    return Figure(title, caption, drawings, ("column", *rows), table, panels=len(strips) > 1)


def _drawing(strip: Strip, rows: Sequence[str], left: float) -> Markup:
    """One column: its name, a strip a row, and where they begin and end."""
    name = wrapped(strip.name, WIDTH - 8)
    parts = [text(0, 14 + LETTERS * i, words, weight="bold") for i, words in enumerate(name)]
    y, shown = height_of(name), ~np.asarray(strip.withheld)
    highest = float(strip.masses[shown].max(initial=0.0)) or 1.0
    for i, row in enumerate(rows):
        parts.append(text(left - 5, y + HEIGHT - 7, row, "end", size=10))
        parts.append(_strip(strip, i, row, (left, y), highest))
        parts.append(line(left, y + HEIGHT - 2, WIDTH, y + HEIGHT - 2, PALE))
        y += HEIGHT
    parts.append(text(left, y + 9, strip.ends[0], size=10))
    parts.append(text(WIDTH, y + 9, strip.ends[1], "end", size=10))
    return picture(strip.name, y + 13, parts)


def _strip(strip: Strip, i: int, row: str, place: tuple[float, float], highest: float) -> Markup:
    """The strip of one row, or that it is withheld."""
    left, y = place
    room, floor = WIDTH - left, y + HEIGHT - 2
    back = box(left, y, room, HEIGHT - 2, PAGE, ' fill-opacity="0"')
    if strip.withheld[i]:
        words = text(left + room / 2, y + HEIGHT - 7, "withheld", "middle", GREY, 10)
        return mark(f"{strip.name} in {row}: withheld, as few rows stand behind it", back, words)
    step = room / strip.masses.shape[1]
    heights = (HEIGHT - 4) * strip.masses[i] / highest
    tops = [
        (left + (j + side) * step, floor - height)
        for j, height in enumerate(heights)
        for side in ((0, 1) if strip.steps else (0.5,))
    ]
    shapes = [back, area([(tops[0][0], floor), *tops, (tops[-1][0], floor)], BLUE)]
    said = f"{strip.name} in {row}: {strip.words[i]}"
    if strip.spike is not None:
        name, where, shares = strip.spike
        high = (HEIGHT - 4) * float(shares[i])
        shapes.append(box(left + room * where - 1.5, floor - high, 3, high, ORANGE))
        said += f"; {name} in {percent(float(shares[i]))}"
    return mark(said, *shapes)


def _told(strip: Strip, i: int) -> str:
    return "" if strip.withheld[i] else strip.words[i]
