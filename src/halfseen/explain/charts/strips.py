"""Where numbers lie: a strip for each component."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from halfseen.explain.charts.drawing import (
    BLUE,
    GREY,
    ORANGE,
    PALE,
    WIDTH,
    Figure,
    area,
    box,
    line,
    mark,
    picture,
    shortened,
    text,
)
from halfseen.explain.words import percent
from halfseen.rows.arrays import Array

LEFT, HEIGHT, HEAD = 62.0, 24.0, 20.0


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
    """Strips of each column below each other, on one axis."""
    y, parts = 0.0, []
    for strip in strips:
        parts.append(text(0, y + HEAD - 6, shortened(strip.name, WIDTH)))
        y += HEAD
        shown = ~np.asarray(strip.withheld)
        highest = float(strip.masses[shown].max(initial=0.0)) or 1.0
        for i, row in enumerate(rows):
            parts.append(text(LEFT - 5, y + HEIGHT - 7, row, "end", size=10))
            parts.append(_strip(strip, i, row, y, highest))
            parts.append(line(LEFT, y + HEIGHT - 2, WIDTH, y + HEIGHT - 2, PALE))
            y += HEIGHT
        parts.append(text(LEFT, y + 9, strip.ends[0], size=10))
        parts.append(text(WIDTH, y + 9, strip.ends[1], "end", size=10))
        y += HEAD
    table = tuple((strip.name, *(_told(strip, i) for i in range(len(rows)))) for strip in strips)
    return Figure(title, caption, picture(title, y, parts), ("column", *rows), table)


def _strip(strip: Strip, i: int, row: str, y: float, highest: float) -> Markup:
    """The strip of one row, or that it is withheld."""
    room, floor = WIDTH - LEFT, y + HEIGHT - 2
    back = box(LEFT, y, room, HEIGHT - 2, "#ffffff", ' fill-opacity="0"')
    if strip.withheld[i]:
        words = text(LEFT + room / 2, y + HEIGHT - 7, "withheld", "middle", GREY, 10)
        return mark(f"{strip.name} in {row}: withheld, as few rows stand behind it", back, words)
    step = room / strip.masses.shape[1]
    heights = (HEIGHT - 4) * strip.masses[i] / highest
    tops = [
        (LEFT + (j + side) * step, floor - height)
        for j, height in enumerate(heights)
        for side in ((0, 1) if strip.steps else (0.5,))
    ]
    shapes = [back, area([(tops[0][0], floor), *tops, (tops[-1][0], floor)], BLUE)]
    said = f"{strip.name} in {row}: {strip.words[i]}"
    if strip.spike is not None:
        name, place, shares = strip.spike
        high = (HEIGHT - 4) * float(shares[i])
        shapes.append(box(LEFT + room * place - 1.5, floor - high, 3, high, ORANGE))
        said += f"; {name} in {percent(float(shares[i]))}"
    return mark(said, *shapes)


def _told(strip: Strip, i: int) -> str:
    return "" if strip.withheld[i] else strip.words[i]
