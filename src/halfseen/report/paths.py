"""Some sequences of rows on the page, state by state: only if rows are asked for."""

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.sequences import Sequences
from halfseen.report.charts.drawing import DARK, WIDTH, Figure, as_hex, box, mark, picture, text
from halfseen.report.charts.markup import Markup
from halfseen.report.charts.stacked import COLOURS
from halfseen.report.portrait import Portrait
from halfseen.report.section import Section

MOST_PATHS, MOST_STEPS = 12, 120
LEFT, HEIGHT, HEAD = 62.0, 14.0, 20.0


def paths_chapter(view: Portrait, sequences: Sequences, memberships: Array) -> Section:
    """A strip for each of a few sequences, from those of fewest changes to those of most.

    ``memberships`` (n, k) are of the rows, sequence after sequence.
    """
    return Section(
        "paths",
        f"Some sequences, {view.noun} by {view.noun}",
        [
            f"Each line is one sequence of rows, coloured by the likeliest {view.noun} of each. "
            "They were taken from those that hardly change to those that change most."
        ],
        [_chart(view, sequences, memberships.argmax(axis=1))],
    )


def _chart(view: Portrait, sequences: Sequences, states: NDArray[np.intp]) -> Figure:
    ends, lengths = sequences.ends, sequences.lengths
    firsts = ends - lengths
    paths = [states[a:b][:MOST_STEPS] for a, b in zip(firsts, ends, strict=True)]
    changes = np.array([np.count_nonzero(np.diff(path)) for path in paths])
    order = np.lexsort((firsts, changes))
    chosen = order[np.unique(np.linspace(0, len(order) - 1, MOST_PATHS).round().astype(int))]
    step = (WIDTH - LEFT) / max(len(paths[i]) for i in chosen)
    parts, rows, y = _legend(view), [], HEAD
    for i in chosen:
        name = f"row {firsts[i] + 1}"
        parts.append(text(LEFT - 5, y + HEIGHT - 4, name, "end", size=10))
        shapes = [
            box(LEFT + t * step, y, step, HEIGHT - 3, _colour(int(state)))
            for t, state in enumerate(paths[i])
        ]
        told = ", ".join(str(state + 1) for state in paths[i])
        parts.append(mark(f"from {name} on: {view.nouns} {told}", *shapes))
        rows.append((name, told))
        y += HEIGHT
    title = "Some sequences"
    caption = f"The likeliest {view.noun} of each row, from the first to the last of a sequence."
    return Figure(title, caption, picture(title, y + 4, parts), ("from", view.nouns), tuple(rows))


def _legend(view: Portrait) -> list[Markup]:
    wide = (WIDTH - LEFT) / view.k
    parts: list[Markup] = []
    for i in range(view.k):
        parts.append(box(LEFT + i * wide, 3, 9, 9, _colour(i)))
        parts.append(text(LEFT + i * wide + 12, 11, str(i + 1), "start", DARK, 10))
    return parts


def _colour(state: int) -> str:
    return as_hex(COLOURS[state % len(COLOURS)])
