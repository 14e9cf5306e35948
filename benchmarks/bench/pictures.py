"""Pictures of the page: lines of time or memory against size, and error against seconds."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from halfseen.report.charts import drawing

WIDTH, HEIGHT = 420.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 26.0, 34.0
COLOURS = ("#0b5cad", "#b34a00", "#2e7d32", "#8e24aa", "#c62828", "#00838f", "#6d4c41", "#616161")


class Series(NamedTuple):
    """Points of one entrant."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    joined: bool = True


class Axis(NamedTuple):
    """Words, and whether it is logarithmic."""

    words: str
    log: bool = True


def colours(names: Iterable[str]) -> dict[str, str]:
    """One for each name, ours first."""
    return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(dict.fromkeys(names))}


def chart(title: str, across: Axis, up: Axis, every: list[Series], of: dict[str, str]) -> Markup:
    """Points, joined or not, with a name at the last of each."""
    along = _scale(np.concatenate([one.x for one in every]), across, LEFT, WIDTH - RIGHT)
    above = _scale(np.concatenate([one.y for one in every]), up, HEIGHT - BOTTOM, TOP)
    parts = [drawing.text(LEFT, 14, title, size=11)]
    parts += _frame(across, up, along, above)
    for one in every:
        places = [(along.place(x), above.place(y)) for x, y in zip(one.x, one.y, strict=True)]
        if one.joined:
            parts += [drawing.line(*a, *b, stroke=of[one.name]) for a, b in pairwise(places)]
        for (x, y), a, b in zip(places, one.x, one.y, strict=True):
            told = f"{one.name}: {a:.3g}, {b:.3g}"
            parts.append(drawing.mark(told, drawing.dot(x, y, 3.2, of[one.name])))
    return drawing.picture(title, HEIGHT, parts, WIDTH)


def legend(of: dict[str, str]) -> Markup:
    """Names and their colours."""
    return Markup(" ").join(
        Markup('<span class="key"><i style="background:{}"></i>{}</span>').format(colour, name)
        for name, colour in of.items()
    )


class _Scale(NamedTuple):
    low: float
    high: float
    first: float
    last: float
    log: bool

    def place(self, value: float) -> float:
        value = np.log10(value) if self.log else value
        share = (value - self.low) / ((self.high - self.low) or 1.0)
        return float(self.first + share * (self.last - self.first))

    def ticks(self) -> list[float]:
        if not self.log:
            return [float(one) for one in np.linspace(self.low, self.high, 4)]
        exponents = np.arange(np.ceil(self.low - 1e-9), np.floor(self.high + 1e-9) + 1)
        if len(exponents) > 1:
            return [float(10.0**one) for one in exponents]
        return [float(10.0**one) for one in np.linspace(self.low, self.high, 3)]


def _scale(values: object, axis: Axis, first: float, last: float) -> _Scale:
    held = np.asarray(values, dtype=float)
    held = np.log10(held) if axis.log else held
    low, high = float(held.min()), float(held.max())
    room = 0.06 * (high - low) or (0.3 if axis.log else 0.1 * abs(high) or 1.0)
    return _Scale(low - room, high + room, first, last, axis.log)


def _frame(across: Axis, up: Axis, along: _Scale, above: _Scale) -> list[Markup]:
    parts = []
    for value in along.ticks():
        x = along.place(value)
        parts.append(drawing.line(x, TOP, x, HEIGHT - BOTTOM, drawing.PALE))
        parts.append(drawing.text(x, HEIGHT - BOTTOM + 13, _short(value), "middle", size=9))
    for value in above.ticks():
        y = above.place(value)
        parts.append(drawing.line(LEFT, y, WIDTH - RIGHT, y, drawing.PALE))
        parts.append(drawing.text(LEFT - 4, y + 3, _short(value), "end", size=9))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(drawing.text(middle, HEIGHT - 6, across.words, "middle", drawing.GREY, 10))
    parts.append(drawing.text(WIDTH - RIGHT, 14, up.words, "end", drawing.GREY, 9))
    return parts


def _short(value: float) -> str:
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{sign}"
    return f"{value:.3g}"
