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

CELL_HEIGHT = 22.0
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
    for row, d in enumerate(grid.features):
        y = 32 + row * CELL_HEIGHT
        parts.append(label(y + CELL_HEIGHT / 2, portrait.names[d]))
        for k in range(portrait.k):
            place = LABELS + k * cell, y, cell
            parts.append(_cell(place, colours[row][k], grid.texts[row][k], grid.tips[row][k]))
    caption = grid.caption
    if len(grid.features) < len(portrait.names):
        caption += (
            f" The {len(grid.features)} most telling of {len(portrait.names)} columns are drawn."
        )
    drawing = picture(grid.title, 34 + len(grid.features) * CELL_HEIGHT, parts, width)
    rows = tuple((portrait.names[d], *grid.texts[row]) for row, d in enumerate(grid.features))
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
