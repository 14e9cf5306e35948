"""Pieces of SVG. All text is escaped: names come from files that anybody may have written.

Drawings are 360 units wide, the width of a phone, so that text is legible there, and are scaled up
on wider screens.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

WIDTH = 360.0
LABELS = 126.0
"""Room for names at the left."""
LINE = 20.0
"""Height of a line of names."""
BLUE, ORANGE, GREY, PALE, DARK = "#0b5cad", "#b34a00", "#6b6b6b", "#e3e7ec", "#1b1f24"


@dataclass(frozen=True)
class Figure:
    """A chart, what it shows in a sentence, and its numbers as a table."""

    title: str
    caption: str
    picture: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    width: float = WIDTH


def picture(title: str, height: float, parts: Iterable[Markup], width: float = WIDTH) -> Markup:
    """A drawing with a name for those who do not see it."""
    return Markup(
        '<svg class="chart" role="group" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}" '
        'data-width="{:.0f}">{}</svg>'
    ).format(title, width, height, width, Markup("").join(parts))


def mark(tip: str, *shapes: Markup) -> Markup:
    """Something that says what it is."""
    return Markup('<g class="mark" role="img" tabindex="-1" aria-label="{}">{}</g>').format(
        tip, Markup("").join(shapes)
    )


def box(x: float, y: float, width: float, height: float, fill: str, more: str = "") -> Markup:
    """A rectangle; one too small to be seen is half a unit wide."""
    return Markup(
        '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"{}/>'
    ).format(x, y, max(width, 0.5), max(height, 0.5), fill, Markup(more))


def dot(x: float, y: float, radius: float, fill: str, stroke: str = "none") -> Markup:
    """A disc."""
    return Markup(
        '<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="{}" stroke="{}" stroke-width="1.5"/>'
    ).format(x, y, radius, fill, stroke)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = GREY) -> Markup:
    """A straight line."""
    return Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="1"/>'
    ).format(x1, y1, x2, y2, stroke)


def area(points: Iterable[tuple[float, float]], fill: str) -> Markup:
    """What corners enclose."""
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup('<polygon points="{}" fill="{}"/>').format(corners, fill)


def text(
    x: float, y: float, words: str, anchor: str = "start", fill: str = DARK, size: float = 11
) -> Markup:
    """Words."""
    return Markup(
        '<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}" font-size="{:g}">{}</text>'
    ).format(x, y, anchor, fill, size, words)


def shortened(name: str, room: float = LABELS - 8) -> str:
    """A name with its middle cut out if it is long: how names end often tells them apart.

    >>> shortened("systolic pressure at home")
    'systolic… at home'
    """
    longest = len(name)
    short = name
    while length(short) > room:
        longest -= 1
        tail = (longest - 1) // 2
        short = f"{name[: longest - 1 - tail]}…{name[-tail:]}"
    return short


def length(words: str, size: float = 11) -> float:
    """About how wide words are."""
    return sum(map(_width, words)) * size / 11


def _width(letter: str) -> float:
    """About how wide a letter is, in the widest of the usual typefaces."""
    if letter in "ijlt.,:;'|!()[]{} /\\":
        return 4.4
    return 10.7 if letter in "mwMW@%…<>=+" or ord(letter) > 0x2E80 else 7.4


def label(y: float, name: str) -> Markup:
    """The name of a line whose middle is at ``y``."""
    return text(LABELS - 6, y + 4, shortened(name), "end")


def on_colour(red: float, green: float, blue: float) -> str:
    """Black or white, whichever is easier to read on a colour (0 to 255)."""
    linear = [_linear(part / 255) for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#ffffff"


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def blend(share: float, towards: Sequence[float]) -> tuple[float, float, float]:
    """From white (0) to a colour (1)."""
    red, green, blue = (255 + share * (part - 255) for part in towards)
    return red, green, blue


def as_hex(colour: Sequence[float]) -> str:
    """#rrggbb."""
    return "#" + "".join(f"{round(part):02x}" for part in colour)
