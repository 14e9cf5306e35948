"""Charts with a line for each component: shares of values, densities of numbers, and means."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from halfseen.data.arrays import Array
from halfseen.data.formatting import number, percent
from halfseen.report.charts import drawing as svg

MOST_COLOURS = 8
COLOURS = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167),
    (86, 180, 233), (213, 94, 0), (240, 228, 66), (153, 153, 153),
)  # fmt: skip
"""Which most people tell apart (Okabe and Ito 2008)."""
DARKEST = (8, 48, 107)
BAR_HEIGHT = 17.0
MOST_LEFT = 110.0
"""Units for the names of components at the left of all these charts."""
READABLE = 27.0
"""Units that a share needs to be written into."""


class Stack(NamedTuple):
    """A categorical column."""

    name: str
    labels: tuple[str, ...]
    shares: Array  # (m, rows)
    words: list[list[str]]  # of each value in each row
    withheld: Sequence[bool]  # of rows
    ordered: bool  # whether values follow each other


def stacked_chart(
    title: str, caption: str, stacks: Sequence[Stack], rows: Sequence[str]
) -> svg.Figure:
    """Stacked bars of each of the ``rows``, one drawing per column."""
    left = svg.room_for(rows, MOST_LEFT)
    table = tuple(
        (f"{stack.name}: {name}", *_shown(stack, words))
        for stack in stacks
        for name, words in zip(stack.labels, stack.words, strict=True)
    )
    drawings = svg.panels(_stacked_panel(stack, rows, left) for stack in stacks)
    return svg.Figure(title, caption, drawings, ("value", *rows), table, panels=len(stacks) > 1)


def _stacked_panel(stack: Stack, rows: Sequence[str], left: float) -> Markup:
    colours = _stack_colours(stack)
    parts, high = svg.heading(stack.name)
    legend, y = _legend(stack.labels, colours, high)
    parts += legend
    for place, row in enumerate(rows):
        parts.append(svg.text(left - 5, y + BAR_HEIGHT - 5, row, "end", size=10))
        parts += _bar(stack, place, row, colours, (left, y))
        y += BAR_HEIGHT
    return svg.picture(stack.name, y + 2, parts)


def _shown(stack: Stack, words: list[str]) -> list[str]:
    return ["" if no else said for no, said in zip(stack.withheld, words, strict=True)]


def _stack_colours(stack: Stack) -> list[tuple[float, float, float]]:
    n = len(stack.labels)
    if not stack.ordered:
        return [COLOURS[i % len(COLOURS)] for i in range(n)]
    return [svg.blend(0.15 + 0.85 * i / max(n - 1, 1), DARKEST) for i in range(n)]


def _legend(
    labels: Sequence[str], colours: Sequence[Sequence[float]], y: float
) -> tuple[list[Markup], float]:
    """The legend of colours, and its height."""
    parts, x = [], 0.0
    for name, colour in zip(labels, colours, strict=True):
        lines = svg.wrapped(name, svg.WIDTH - 24, 10)
        wide = 14 + max(svg.length(words, 10) for words in lines) + 8
        if x > 0 and x + wide > svg.WIDTH:
            x, y = 0.0, y + 14
        parts.append(svg.box(x, y + 2, 10, 10, svg.as_hex(colour)))
        parts += [
            svg.text(x + 14, y + 11 + 12 * i, words, size=10) for i, words in enumerate(lines)
        ]
        y += 12 * (len(lines) - 1)
        x += wide
    return parts, y + 18


def _bar(
    stack: Stack,
    number: int,
    row: str,
    colours: Sequence[Sequence[float]],
    place: tuple[float, float],
) -> list[Markup]:
    (x, y), parts = place, []
    room = svg.WIDTH - x
    if stack.withheld[number]:
        back = svg.box(x, y + 1, room, BAR_HEIGHT - 3, svg.PALE)
        return [svg.withheld(f"{stack.name} in {row}", back, x + room / 2, y + BAR_HEIGHT - 5)]
    shares = stack.shares[:, number] / max(float(np.sum(stack.shares[:, number])), 1e-12)
    for label, share in enumerate(shares):
        wide = room * float(share)
        said = stack.words[label][number]
        shapes = [svg.box(x, y + 1, wide, BAR_HEIGHT - 3, svg.as_hex(colours[label]))]
        if wide >= READABLE:
            ink = svg.on_colour(*colours[label])
            shapes.append(svg.text(x + wide / 2, y + BAR_HEIGHT - 5, said, "middle", ink, 9))
        parts.append(svg.mark(f"{stack.name}, {row}: {stack.labels[label]} {said}", *shapes))
        x += wide
    return parts


STRIP_HEIGHT = 24.0
"""Units; a strip needs more than a bar, as its height is what is read."""


class Strip(NamedTuple):
    """A numeric column."""

    name: str
    ends: tuple[str, str]  # of what is drawn
    masses: Array  # (rows, m)  of equally wide intervals
    spike: tuple[str, float, Array] | None  # a value of its own, where it is, and (rows,) shares
    steps: bool  # whether intervals are single values
    words: Sequence[str]  # of each row
    withheld: Sequence[bool]


def strips_chart(
    title: str, caption: str, strips: Sequence[Strip], rows: Sequence[str]
) -> svg.Figure:
    """Densities of each component below each other, one drawing per column."""
    left = svg.room_for(rows, MOST_LEFT)
    table = tuple((strip.name, *(_words(strip, i) for i in range(len(rows)))) for strip in strips)
    drawings = svg.panels(_strips_panel(strip, rows, left) for strip in strips)
    return svg.Figure(title, caption, drawings, ("column", *rows), table, panels=len(strips) > 1)


def _strips_panel(strip: Strip, rows: Sequence[str], left: float) -> Markup:
    parts, y = svg.heading(strip.name)
    highest = float(strip.masses[~np.asarray(strip.withheld)].max(initial=0.0)) or 1.0
    for i, row in enumerate(rows):
        parts.append(svg.text(left - 5, y + STRIP_HEIGHT - 7, row, "end", size=10))
        parts.append(_strip(strip, i, row, (left, y), highest))
        parts.append(
            svg.line(left, y + STRIP_HEIGHT - 2, svg.WIDTH, y + STRIP_HEIGHT - 2, svg.PALE)
        )
        y += STRIP_HEIGHT
    parts.append(svg.text(left, y + 9, strip.ends[0], size=10))
    parts.append(svg.text(svg.WIDTH, y + 9, strip.ends[1], "end", size=10))
    return svg.picture(strip.name, y + 13, parts)


def _strip(strip: Strip, i: int, row: str, place: tuple[float, float], highest: float) -> Markup:
    left, y = place
    room, floor = svg.WIDTH - left, y + STRIP_HEIGHT - 2
    back = svg.box(left, y, room, STRIP_HEIGHT - 2, svg.PAGE, ' fill-opacity="0"')
    if strip.withheld[i]:
        name = f"{strip.name} in {row}"
        return svg.withheld(name, back, left + room / 2, y + STRIP_HEIGHT - 7)
    step = room / strip.masses.shape[1]
    heights = (STRIP_HEIGHT - 4) * strip.masses[i] / highest
    tops = [
        (left + (j + side) * step, floor - height)
        for j, height in enumerate(heights)
        for side in ((0, 1) if strip.steps else (0.5,))
    ]
    shapes = [back, svg.area([(tops[0][0], floor), *tops, (tops[-1][0], floor)], svg.BLUE)]
    said = f"{strip.name} in {row}: {strip.words[i]}"
    if strip.spike is not None:
        name, where, shares = strip.spike
        high = (STRIP_HEIGHT - 4) * float(shares[i])
        shapes.append(svg.box(left + room * where - 1.5, floor - high, 3, high, svg.ORANGE))
        said += f"; {name} in {percent(float(shares[i]))}"
    return svg.mark(said, *shapes)


def _words(strip: Strip, i: int) -> str:
    return "" if strip.withheld[i] else strip.words[i]


LINE_HEIGHT, FOOT = 18.0, 16.0
MARGIN = 6.0


class Spread(NamedTuple):
    """One line of the chart."""

    name: str
    mean: float
    spread: float  # to both sides
    error: float  # the same, of the mean
    words: str
    withheld: bool


def spreads_chart(title: str, caption: str, lines: Sequence[Spread], head: str) -> svg.Figure:
    """Means with spreads, below each other."""
    shown = [one for one in lines if not one.withheld]
    low = min((one.mean - max(one.spread, one.error) for one in shown), default=0.0)
    high = max((one.mean + max(one.spread, one.error) for one in shown), default=1.0)
    left = svg.room_for((one.name for one in lines), MOST_LEFT)
    unit = (svg.WIDTH - left - 2 * MARGIN) / ((high - low) or 1.0)

    def at(value: float) -> float:
        return left + MARGIN + unit * (value - low)

    parts = []
    for i, one in enumerate(lines):
        y = i * LINE_HEIGHT
        parts.append(svg.text(left - 5, y + LINE_HEIGHT - 5, one.name, "end", size=10))
        parts.append(_spread_line(one, (left, y), at, unit))
    bottom = len(lines) * LINE_HEIGHT
    parts.append(svg.text(at(low), bottom + 11, number(low), size=10))
    parts.append(svg.text(at(high), bottom + 11, number(high), "end", size=10))
    table = tuple((one.name, "" if one.withheld else one.words) for one in lines)
    return svg.Figure(title, caption, svg.picture(title, bottom + FOOT, parts), ("", head), table)


def _spread_line(
    one: Spread, place: tuple[float, float], at: Callable[[float], float], unit: float
) -> Markup:
    left, y = place
    if one.withheld:
        back = svg.box(left, y + 2, svg.WIDTH - left, LINE_HEIGHT - 4, svg.PALE)
        return svg.withheld(one.name, back, (left + svg.WIDTH) / 2, y + LINE_HEIGHT - 5)
    return svg.mark(
        f"{one.name}: {one.words}",
        svg.box(at(one.mean - one.spread), y + 4, 2 * one.spread * unit, LINE_HEIGHT - 8, svg.PALE),
        svg.box(at(one.mean - one.error), y + 6, 2 * one.error * unit, LINE_HEIGHT - 12, svg.BLUE),
        svg.dot(at(one.mean), y + LINE_HEIGHT / 2, 3, svg.BLUE, svg.DARK),
    )
