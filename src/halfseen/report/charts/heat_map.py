"""Heat map of components and columns."""

from typing import NamedTuple

from markupsafe import Markup

from halfseen.data.formatting import percent
from halfseen.report.charts import drawing as svg
from halfseen.report.portrait import Grid, Portrait

CELL_HEIGHT, GAP = 22.0, 5.0
NARROWEST, WIDEST = 46.0, 90.0
"""Units of a cell: a number must fit, and few components shall not fill the page."""
TOO_WIDE = 500.0
"""To stand beside another."""
MANY_LINES = 12
"""A drawing of more is cut into two, which may stand beside each other."""
ROOM_BESIDE_MANY = 220.0
"""For names, beside so many components that the drawing is wider than a phone anyway."""
BLUE, RED = (33, 102, 172), (178, 24, 43)


class Heads(NamedTuple):
    """Column headings of a grid, in two lines."""

    corner: tuple[str, str]  # above the names at the left
    above: tuple[tuple[str, str], ...]  # above each column
    names: tuple[str, ...]  # of the columns, in the table of numbers

    @classmethod
    def of(cls, portrait: Portrait) -> "Heads":
        """Headings with numbers and shares of components."""
        numbers = range(1, portrait.k + 1)
        shares = map(percent, portrait.shares)
        above = tuple((str(k), share) for k, share in zip(numbers, shares, strict=True))
        names = tuple(f"{portrait.noun} {k}" for k in numbers)
        return cls((portrait.noun, "share"), above, names)


def heat_map_chart(portrait: Portrait, grid: Grid) -> svg.Figure:
    """The cells of a grid of components."""
    return grid_chart(grid, Heads.of(portrait))


def grid_chart(grid: Grid, heads: Heads) -> svg.Figure:
    """A grid of cells, blue below average and red above."""
    k, labels = len(heads.above), grid.labels or grid.lines
    left = svg.room_for(labels)
    cell = min(max((svg.WIDTH - left) / k, NARROWEST), WIDEST)
    if left + cell * k > svg.WIDTH:
        left = svg.room_for(labels, ROOM_BESIDE_MANY)
    width = max(left + cell * k, svg.WIDTH)
    parts = _parts(grid) if width < TOO_WIDE else [range(len(labels))]
    drawings = [_drawing(heads, grid, part, (left, cell, width)) for part in parts]
    caption = grid.caption
    if len(grid.lines) < grid.n_lines:
        caption += f" The {len(grid.lines)} most telling of {grid.n_lines:,} {grid.what} are drawn."
    drawing = svg.panels(drawings) if len(drawings) > 1 else Markup("").join(drawings)
    rows = tuple((name, *texts) for name, texts in zip(grid.lines, grid.texts, strict=True))
    head = ("column", *heads.names)
    return svg.Figure(grid.title, caption, drawing, head, rows, width, panels=len(drawings) > 1)


def _parts(grid: Grid) -> list[range]:
    """Groups of lines that may be placed side by side."""
    n = len(grid.lines)
    heads = grid.heads or ("",) * n
    labels = grid.labels or grid.lines
    begins = [i for i in range(n) if heads[i] or labels[i] == grid.lines[i]]  # not below a head
    half = min(begins, key=lambda i: abs(i - n / 2), default=0)
    return [range(half), range(half, n)] if n > MANY_LINES and half else [range(n)]


def _drawing(columns: Heads, grid: Grid, part: range, places: tuple[float, float, float]) -> Markup:
    left, cell, width = places
    heads = grid.heads or ("",) * len(grid.lines)
    labels = grid.labels or grid.lines
    parts = []
    for k, (first, second) in enumerate(columns.above):
        parts.append(svg.text(left + (k + 0.5) * cell, 12, first, "middle", svg.DARK))
        parts.append(svg.text(left + (k + 0.5) * cell, 25, second, "middle"))
    parts.append(svg.text(left - 6, 12, columns.corner[0], "end"))
    parts.append(svg.text(left - 6, 25, columns.corner[1], "end"))
    y = 32.0
    for row in part:
        name = labels[row]
        if heads[row]:
            head = svg.wrapped(heads[row], width)
            parts += [svg.text(0, y + 15 + svg.LETTERS * i, words) for i, words in enumerate(head)]
            y += svg.height_of(head)
        elif row and grid.heads and labels[row - 1] != grid.lines[row - 1]:  # below a head
            y += GAP * (name == grid.lines[row])
        lines = svg.wrapped(name, left - 8)
        high = svg.height_of(lines, CELL_HEIGHT)
        parts.append(svg.label(left, y + high / 2, lines))
        for k in range(len(columns.above)):
            place = left + k * cell, y, cell, high
            shade = float(grid.shade[row][k])
            parts.append(_cell(place, shade, grid.texts[row][k], grid.tips[row][k]))
        y += high
    return svg.picture(grid.title, y + 2, parts, width)


def _cell(place: tuple[float, float, float, float], shade: float, words: str, tip: str) -> Markup:
    """The translucent colour of a cell, stronger for larger values.

    In the dark all of them can be written on in white.
    """
    x, y, width, height = place
    colour = RED if shade > 0 else BLUE
    ink = svg.ON_PALE if svg.on_colour(*svg.blend(abs(shade), colour)) == "#000000" else "#ffffff"
    strength = f' fill-opacity="{abs(shade):.2f}"'
    return svg.mark(
        tip,
        svg.box(x + 0.5, y + 0.5, width - 1, height - 1, svg.as_hex(colour), strength),
        svg.text(x + width / 2, y + height / 2 + 4, words, "middle", ink, 10),
    )
