"""Which features are missing together: patterns as columns, as in an UpSet plot."""

import numpy as np

from halfseen.data.formatting import percent
from halfseen.diagnostics.missingness import Missingness
from halfseen.report.charts.drawing import (
    BLUE,
    DARK,
    GREY,
    PALE,
    STRIPE,
    WIDTH,
    Figure,
    box,
    dot,
    height_of,
    label,
    line,
    mark,
    picture,
    room_for,
    text,
    wrapped,
)

MOST_PATTERNS = 12
MOST_FEATURES = 20
BARS = 90.0
SHARE = "% of rows"


def patterns_chart(found: Missingness) -> Figure:
    """The most common patterns, over the features that have the most gaps."""
    shown = found.patterns[:MOST_PATTERNS]
    gappy = [int(i) for i in np.argsort(found.observed, kind="stable") if found.observed[i] < 1]
    features = gappy[:MOST_FEATURES][::-1]
    left = room_for([SHARE, *(found.names[i] for i in features)])
    step = (WIDTH - left) / max(len(shown), 6)
    y, middle = BARS + 26, []
    most = max(pattern.n_rows for pattern in shown)
    parts = [text(left - 6, 22, SHARE, "end", GREY)]
    for number, i in enumerate(features):
        name = wrapped(found.names[i], left - 8)
        high = height_of(name)
        if number % 2 == 0:
            parts.append(box(0, y, WIDTH, high, STRIPE))
        middle.append(y + high / 2)
        parts.append(label(left, middle[-1], name))
        y += high
    rows = []
    for number, pattern in enumerate(shown):
        x = left + (number + 0.5) * step
        gone = [found.names[i] for i in range(len(found.names)) if not pattern.observed[i]]
        share = percent(pattern.n_rows / found.n_rows)
        words = _named(gone, len(found.names))
        height = BARS * pattern.n_rows / most
        shapes = [
            box(x - step * 0.32, 16 + BARS - height, step * 0.64, height, BLUE),
            text(x, 12 + BARS - height, share.rstrip("%"), "middle", DARK, 9),
        ]
        places = [n for n, i in enumerate(features) if not pattern.observed[i]]
        if len(places) > 1:
            shapes.append(line(x, middle[places[0]], x, middle[places[-1]], DARK))
        for n, place in enumerate(middle):
            shapes.append(dot(x, place, 4.5, DARK if n in places else PALE))
        parts.append(mark(f"{pattern.n_rows:,} rows ({share}): {words}", *shapes))
        rows.append((words, f"{pattern.n_rows:,}", share))
    others = found.n_rows - sum(pattern.n_rows for pattern in shown)
    caption = (
        "Each column of dots is a pattern: dark dots are missing. The bar above says in how many "
        "rows."
    )
    if others:
        n_others = found.n_patterns - len(shown)
        caption += f" {n_others:,} rarer patterns, in {others:,} rows, are not drawn."
    title = "Which columns are missing together"
    drawing = picture(title, y, parts)
    return Figure(title, caption, drawing, ("missing", "rows", "share"), tuple(rows))


def _named(gone: list[str], n_features: int) -> str:
    if not gone:
        return "nothing is missing"
    if len(gone) == n_features:
        return "everything is missing"
    shown = gone if len(gone) <= 8 else [*gone[:8], f"{len(gone) - 8} more"]
    return f"without {', '.join(shown)}"
