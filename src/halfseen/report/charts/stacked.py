"""Shares that make up a whole, one bar a component."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array
from halfseen.report.charts.drawing import (
    GREY,
    LETTERS,
    PALE,
    WIDTH,
    Figure,
    as_hex,
    blend,
    box,
    height_of,
    length,
    mark,
    on_colour,
    panels,
    picture,
    room_for,
    text,
    wrapped,
)
from halfseen.report.charts.markup import Markup

MOST_COLOURS = 8
COLOURS = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167),
    (86, 180, 233), (213, 94, 0), (240, 228, 66), (153, 153, 153),
)  # fmt: skip
"""Which most people tell apart (Okabe and Ito 2008)."""
DARKEST = (8, 48, 107)
MOST_LEFT, HEIGHT = 110.0, 17.0
READABLE = 27.0
"""Units that a share needs to be written into."""


class Stack(NamedTuple):
    """A column of few values."""

    name: str
    labels: tuple[str, ...]
    shares: Array  # (m, rows)
    words: list[list[str]]  # of each value in each row
    withheld: Sequence[bool]  # of rows
    ordered: bool  # whether values follow each other


def stacked_chart(title: str, caption: str, stacks: Sequence[Stack], rows: Sequence[str]) -> Figure:
    """A bar for each of the ``rows``, in a drawing for each column."""
    left = room_for(rows, MOST_LEFT)
    table = tuple(
        (f"{stack.name}: {name}", *_shown(stack, words))
        for stack in stacks
        for name, words in zip(stack.labels, stack.words, strict=True)
    )
    drawings = panels(_drawing(stack, rows, left) for stack in stacks)
    return Figure(title, caption, drawings, ("value", *rows), table, panels=len(stacks) > 1)


def _drawing(stack: Stack, rows: Sequence[str], left: float) -> Markup:
    """One column: its name, what colours stand for, and the bars."""
    colours = _colours(stack)
    name = wrapped(stack.name, WIDTH - 8)
    parts = [text(0, 14 + LETTERS * i, words, weight="bold") for i, words in enumerate(name)]
    legend, y = _legend(stack.labels, colours, height_of(name))
    parts += legend
    for number, row in enumerate(rows):
        parts.append(text(left - 5, y + HEIGHT - 5, row, "end", size=10))
        parts += _bar(stack, number, row, colours, (left, y))
        y += HEIGHT
    return picture(stack.name, y + 2, parts)


def _shown(stack: Stack, words: list[str]) -> list[str]:
    return ["" if no else said for no, said in zip(stack.withheld, words, strict=True)]


def _colours(stack: Stack) -> list[tuple[float, float, float]]:
    n = len(stack.labels)
    if not stack.ordered:
        return [COLOURS[i % len(COLOURS)] for i in range(n)]
    return [blend(0.15 + 0.85 * i / max(n - 1, 1), DARKEST) for i in range(n)]


def _legend(
    labels: Sequence[str], colours: Sequence[Sequence[float]], y: float
) -> tuple[list[Markup], float]:
    """Which colour is which, in as many lines as that takes; and where it ends."""
    parts, x = [], 0.0
    for name, colour in zip(labels, colours, strict=True):
        lines = wrapped(name, WIDTH - 24, 10)
        wide = 14 + max(length(words, 10) for words in lines) + 8
        if x > 0 and x + wide > WIDTH:
            x, y = 0.0, y + 14
        parts.append(box(x, y + 2, 10, 10, as_hex(colour)))
        parts += [text(x + 14, y + 11 + 12 * i, words, size=10) for i, words in enumerate(lines)]
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
    room = WIDTH - x
    if stack.withheld[number]:
        back = box(x, y + 1, room, HEIGHT - 3, PALE)
        words = text(x + room / 2, y + HEIGHT - 5, "withheld", "middle", GREY, 10)
        return [mark(f"{stack.name} in {row}: withheld, as few rows stand behind it", back, words)]
    shares = stack.shares[:, number] / max(float(np.sum(stack.shares[:, number])), 1e-12)
    for label, share in enumerate(shares):
        wide = room * float(share)
        said = stack.words[label][number]
        shapes = [box(x, y + 1, wide, HEIGHT - 3, as_hex(colours[label]))]
        if wide >= READABLE:
            ink = on_colour(*colours[label])
            shapes.append(text(x + wide / 2, y + HEIGHT - 5, said, "middle", ink, 9))
        parts.append(mark(f"{stack.name}, {row}: {stack.labels[label]} {said}", *shapes))
        x += wide
    return parts
