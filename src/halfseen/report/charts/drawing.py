"""SVG elements; all text is escaped, because names come from files.

Drawings are 360 units wide, the width of a phone, so that text is legible there; on wider screens
several stand beside each other. Colours have names, to which the page's style gives another value
in the dark.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from halfseen.data.formatting import shortened

WIDTH = 360.0
FEWEST_LABELS, MOST_LABELS = 58.0, 150.0
"""Room for names at the left: as much as they take, but no more than that."""
LINE = 20.0
"""Height of a line of names."""
LETTERS = 13.0
"""The same of further lines of one name."""
MOST_LINES = 5
"""Of one name; a longer one is cut."""
BLUE, ORANGE, GREY = "var(--blue, #0b5cad)", "var(--orange, #b34a00)", "var(--grey, #5f666e)"
PALE, STRIPE, PAGE = "var(--pale, #e3e7ec)", "var(--stripe, #f4f6f8)", "var(--page, #ffffff)"
DARK, ON_PALE = "var(--ink, #1b1f24)", "var(--on-pale, #000000)"


@dataclass(frozen=True)
class Figure:
    """A chart with its description and its numbers as a table."""

    title: str
    caption: str
    picture: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    width: float = WIDTH
    panels: bool = False  # whether it is several drawings, which may stand beside each other


def picture(title: str, height: float, parts: Iterable[Markup], width: float = WIDTH) -> Markup:
    """An SVG element with a text alternative."""
    return Markup(
        '<svg class="chart" role="group" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}" '
        'data-width="{:.0f}">{}</svg>'
    ).format(title, width, height, width, Markup("").join(parts))


def panels(drawings: Iterable[Markup]) -> Markup:
    """Several drawings side by side, wrapped to the available width."""
    return Markup('<div class="panels">{}</div>').format(Markup("").join(drawings))


def mark(tip: str, *shapes: Markup) -> Markup:
    """An SVG group with a title."""
    return Markup('<g class="mark" role="img" tabindex="-1" aria-label="{}">{}</g>').format(
        tip, Markup("").join(shapes)
    )


def box(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> Markup:
    """A rectangle; one too small to be seen is half a unit wide."""
    return Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"{}/>'
    ).format(x, y, max(width, 0.5), max(height, 0.5), fill, Markup(more))


def dot(x: float, y: float, radius: float, fill: str, stroke: str = "none") -> Markup:
    """A circle."""
    return Markup(
        '<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" stroke="{}" stroke-width="1.5"/>'
    ).format(x, y, radius, fill, stroke)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = GREY) -> Markup:
    """A straight line."""
    return Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="1"/>'
    ).format(x1, y1, x2, y2, stroke)


def area(points: Iterable[tuple[float, float]], fill: str) -> Markup:
    """A polygon."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup('<polygon points="{}" fill="{}"/>').format(corners, fill)


def text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    fill: str = DARK,
    size: float = 11,
    weight: str = "normal",
) -> Markup:
    """A line of text."""
    return Markup(
        '<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}" font-size="{:g}"{}>{}</text>'
    ).format(x, y, anchor, fill, size, _bold(weight), words)


def _bold(weight: str) -> Markup:
    return Markup(' font-weight="{}"').format(weight) if weight != "normal" else Markup("")


def fitting(name: str, room: float) -> str:
    """A name shortened in its middle to a width.

    >>> fitting("systolic pressure at home", 118)
    'systolic… at home'
    """
    return next(
        short
        for short in (shortened(name, most) for most in range(len(name), 0, -1))
        if length(short) <= room or len(short) < 2
    )


def wrapped(name: str, room: float, size: float = 11) -> list[str]:
    """A name broken into lines, between words if possible.

    >>> wrapped("systolic pressure at home", 118)
    ['systolic pressure', 'at home']
    >>> wrapped("PlateletsPerMicrolitre", 90)
    ['PlateletsPer', 'Microlitre']
    """
    lines = [""]
    for word in re.findall(_WORD, name) or [name]:
        if lines[-1] and length(lines[-1] + word.rstrip(), size) > room:
            lines.append("")
        for letter in word:  # a word that is longer than a line goes on in the next
            if lines[-1] and length(lines[-1] + letter.strip(), size) > room:
                lines.append("")
            lines[-1] += letter
    lines = [line.strip() for line in lines if line.strip()] or [name]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], fitting("".join(lines[MOST_LINES - 1 :]), room)]
    return lines


_WORD = re.compile(r"[^\W\d_]*?[a-z](?=[A-Z])|[^\s_.:/-]+[\s_.:/-]*|[\s_.:/-]+")
"""A part of a name that may begin a line: after spaces and marks, and humps."""


def room_for(names: Iterable[str], most: float = MOST_LABELS) -> float:
    """The width of row names, up to a maximum."""
    widest = max((length(name) for name in names), default=0.0) + 10
    return min(max(widest, FEWEST_LABELS), most)


def height_of(lines: Sequence[str], least: float = LINE) -> float:
    """The height of a name in lines."""
    return max(least, LETTERS * len(lines) + 5)


def length(words: str, size: float = 11) -> float:
    """The approximate width of a text."""
    return sum(map(_width, words)) * size / 11


def _width(letter: str) -> float:
    """The approximate width of a letter in the widest usual typeface."""
    if letter in "ijlt.,:;'|!()[] /\\":
        return 4.4
    return 10.7 if letter in "mwMW@%…<>=+" or ord(letter) > 0x2E80 else 7.4


def label(x: float, y: float, lines: Sequence[str]) -> Markup:
    """A name in lines that ends at ``x``, centred at ``y``."""
    top = y + 4 - LETTERS * (len(lines) - 1) / 2
    return Markup("").join(
        text(x - 6, top + LETTERS * i, words, "end") for i, words in enumerate(lines)
    )


def heading(name: str) -> tuple[list[Markup], float]:
    """A bold name in lines above a drawing, and its height."""
    lines = wrapped(name, WIDTH - 8)
    parts = [text(0, 14 + LETTERS * i, words, weight="bold") for i, words in enumerate(lines)]
    return parts, height_of(lines)


def withheld(name: str, back: Markup, x: float, y: float) -> Markup:
    """A placeholder for numbers that rest on too few rows."""
    words = text(x, y, "withheld", "middle", GREY, 10)
    return mark(f"{name}: withheld, as few rows stand behind it", back, words)


def on_colour(red: float, green: float, blue: float) -> str:
    """Black or white, whichever contrasts more with a colour (0 to 255)."""
    linear = [_linear(part / 255) for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#ffffff"


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def blend(share: float, towards: Sequence[float]) -> tuple[float, float, float]:
    """A colour blended with white, from 0 (white) to 1."""
    red, green, blue = (255 + share * (part - 255) for part in towards)
    return red, green, blue


def as_hex(colour: Sequence[float]) -> str:
    """A colour as #rrggbb."""
    return "#" + "".join(f"{round(part):02x}" for part in colour)
