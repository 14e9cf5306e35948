"""What components are like: a cell for each feature in each."""

from markupsafe import Markup

from halfseen.explain.charts.drawing import (
    DARK,
    LABELS,
    WIDTH,
    Figure,
    as_hex,
    blend,
    box,
    label,
    mark,
    on_colour,
    picture,
    text,
)
from halfseen.explain.portrait import Grid, Portrait
from halfseen.explain.words import percent

CELL_HEIGHT, HEAD_HEIGHT, GAP = 22.0, 20.0, 5.0
NARROWEST = 46.0
BLUE, RED = (33, 102, 172), (178, 24, 43)
Colour = tuple[float, float, float]


def heat_map_chart(portrait: Portrait, grid: Grid) -> Figure:
    """The cells of a grid, blue for what is below average or less than most, red above."""
    colours = [[_colour(shade) for shade in line] for line in grid.shade]
    nouns = [f"{portrait.noun} {k + 1}" for k in range(portrait.k)]
    cell = max((WIDTH - LABELS) / portrait.k, NARROWEST)
    width = LABELS + cell * portrait.k
    parts = []
    for k in range(portrait.k):
        parts.append(text(LABELS + (k + 0.5) * cell, 12, str(k + 1), "middle", DARK))
        parts.append(text(LABELS + (k + 0.5) * cell, 25, percent(portrait.shares[k]), "middle"))
    parts.append(text(LABELS - 6, 12, portrait.noun, "end"))
    parts.append(text(LABELS - 6, 25, "share", "end"))
    y = 32.0
    heads = grid.heads or ("",) * len(grid.lines)
    labels = grid.labels or grid.lines
    for row, name in enumerate(labels):
        if heads[row]:
            parts.append(text(0, y + HEAD_HEIGHT - 5, heads[row]))
            y += HEAD_HEIGHT
        elif row and grid.heads and labels[row - 1] != grid.lines[row - 1]:  # below a head
            y += GAP * (name == grid.lines[row])
        parts.append(label(y + CELL_HEIGHT / 2, name))
        for k in range(portrait.k):
            place = LABELS + k * cell, y, cell
            parts.append(_cell(place, colours[row][k], grid.texts[row][k], grid.tips[row][k]))
        y += CELL_HEIGHT
    caption = grid.caption
    if len(grid.lines) < grid.n_lines:
        caption += f" The {len(grid.lines)} most telling of {grid.n_lines} {grid.what} are drawn."
    drawing = picture(grid.title, y + 2, parts, width)
    rows = tuple((name, *texts) for name, texts in zip(grid.lines, grid.texts, strict=True))
    return Figure(grid.title, caption, drawing, ("column", *nouns), rows, width)


def _colour(shade: float) -> Colour:
    return blend(abs(shade), RED if shade > 0 else BLUE)


def _cell(place: tuple[float, float, float], colour: Colour, words: str, tip: str) -> Markup:
    x, y, width = place
    middle = y + CELL_HEIGHT / 2 + 4
    return mark(
        tip,
        box(x + 0.5, y + 0.5, width - 1, CELL_HEIGHT - 1, as_hex(colour)),
        text(x + width / 2, middle, words, "middle", on_colour(*colour), 10),
    )
