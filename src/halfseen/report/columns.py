"""Sections on columns: missing values and weights."""

from collections.abc import Collection, Iterator

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import percent, some_of
from halfseen.diagnostics.concerns import ConcernContext
from halfseen.diagnostics.missingness import Missingness, missingness
from halfseen.report.charts import drawing as svg
from halfseen.report.charts.bars import MOST_BARS, Bar, bar_chart
from halfseen.report.section import ReportContext, Section


def missing_in(case: ConcernContext) -> Missingness:
    """The missingness of a table, without unused columns.

    Rows that only stand for steps between those of the table are no part of it.
    """
    used = case.fitted.taken
    names = tuple(name for name, use in zip(case.fitted.own_names, used, strict=True) if use)
    coding = case.fitted.coding
    ordered = None if coding is None else ~coding.worded[used]
    found = missingness(case.rows.select(used), case.seen.sums.select(used), names, ordered)
    return found.without_added(case.n_added)


def what_is_missing(
    found: Missingness, told: Collection[str] = (), *, sequenced: bool = False
) -> Iterator[str]:
    """Sentences on missing values; empty rows count if rows are ``sequenced``.

    What stands beside them as a concern, of the kinds that are ``told``, is not said again.
    """
    gaps = 1 - float(found.observed.mean())
    if gaps == 0:
        yield "Nothing is missing."
        return
    yield (
        f"{percent(gaps)} of the cells are empty. {found.n_whole_rows:,} of {found.n_rows:,} rows "
        f"({percent(found.n_whole_rows / max(found.n_rows, 1))}) have no gaps."
    )
    if found.n_empty_rows:
        rest = "of which their neighbours tell" if sequenced else "and would be ignored"
        yield f"{found.n_empty_rows:,} rows hold nothing at all, {rest}."
    if found.n_compared < len(found.names):
        yield (
            f"Pairs of columns were looked at among the {found.n_compared:,} with the most gaps."
        )
    if found.never_together:
        pairs = found.never_together
        others = f", nor are {len(pairs) - 1} other pairs" if len(pairs) > 1 else ""
        yield f"'{pairs[0].first}' and '{pairs[0].second}' are never known in the same row{others}."
    yield from _dependence_of_gaps(found, told)


def _dependence_of_gaps(found: Missingness, told: Collection[str]) -> Iterator[str]:
    if found.most_dependent is not None and "missing_together" not in told:
        yield _joint_missingness(found, *found.most_dependent)
    if found.shift is not None and "missing_not_at_random" not in told:
        more = "higher" if found.shift.difference > 0 else "lower"
        yield (
            f"Gaps depend on values: where '{found.shift.where_missing}' is missing, "
            f"'{found.shift.feature}' is {more} by {abs(found.shift.difference):.1f} of its "
            "standard deviations."
        )


def _joint_missingness(found: Missingness, first: str, second: str) -> str:
    if found.independent:
        return (
            "Columns look to be missing independently of each other (the largest deviation is "
            f"{found.dependence:.1f} standard ones; chance gives up to 5)."
        )
    how = "together" if found.together else "one instead of the other"
    return (
        f"Columns are not missing independently of each other: '{first}' and '{second}' are known "
        f"{how} more often than chance would have it ({found.dependence:,.0f} standard deviations)."
    )


def missing_section(page: ReportContext) -> list[Section]:
    """The section on missing values, without what concerns already say."""
    found, told = page.missing, {one.kind for one in page.concerns}
    order = np.argsort(-found.observed, kind="stable")
    known = bar_chart(
        "How often each column is known",
        "Share of rows in which the column has a value.",
        [
            Bar(
                found.names[i],
                float(found.observed[i]),
                percent(found.observed[i]),
                f"{found.names[i]}: known in {100 * found.observed[i]:.1f}% of rows",
            )
            for i in order
        ],
        ("column", "known"),
    )
    # One pattern alone says no more than the bars do.
    figures = [known, patterns_chart(found)] if len(found.patterns) > 1 else [known]
    if len(found.names) > MOST_BARS and (found.observed == 1).all():
        figures = []  # a bar a column, and all of them alike
    sentences = list(what_is_missing(found, told, sequenced=page.case.rows.sequenced))
    return [Section("gaps", "What was missing", sentences, figures)]


def weights_section(page: ReportContext) -> list[Section]:
    """The section on weights of columns."""
    fitted, view = page.case.fitted, page.view
    weights, observed = fitted.feature_weights, fitted.observed_fraction
    top = float(weights.max(initial=0.0)) or 1.0
    chart = bar_chart(
        "How much each column counted",
        "Bars are weights, the largest being 1; the mark is the share of rows in which the column "
        "is known.",
        [
            Bar(
                view.names[i],
                weights[i] / top,
                f"{weights[i] / top:.2f}",
                f"{view.names[i]}: weight {weights[i] / top:.2f}, known in "
                f"{100 * observed[i]:.1f}% of rows",
                float(observed[i]),
            )
            for i in np.lexsort((-observed, -weights))
            if fitted.taken[i]
        ],
        ("column", "weight"),
    )
    sentences = [
        "Columns with many gaps are known less well: what is measured of them, and of how they go "
        "along with others, is less certain. So they counted less when the "
        f"{view.nouns} were sought. Once these were found, every known value was used to describe "
        "them.",
    ]
    points = weights_told(view.names, weights, observed)
    figures = [chart] if (weights[fitted.taken] < FULL * top).any() else []
    return [Section("weights", "What was weighted, and why", sentences, figures, points)]


MOST_LISTED = 8
"""More features than this are counted, not named."""
FULL = 0.95
"""Of the largest weight: a feature that has so much of it counts in full."""
KNOWN = 0.995
"""Of the rows: a feature that is known for so many does not count less for its gaps."""


def weights_told(names: tuple[str, ...], weights: Array, observed: Array) -> list[str]:
    """Sentences on how much each column counted, and why some counted less."""
    top = float(weights.max(initial=0.0)) or 1.0
    relative = weights / top
    full = [names[d] for d in np.flatnonzero(relative >= FULL)]
    lines = []
    if full:
        lines.append(f"In full: {some_of(full)}.")
    less = [d for d in np.argsort(-relative, kind="stable") if 0 < relative[d] < FULL]
    lines += [
        f"{names[d]}: weight {relative[d]:.2f}{_being_known(observed[d])}."
        for d in less[:MOST_LISTED]
    ]
    if len(less) > MOST_LISTED:
        more = len(less) - MOST_LISTED
        lines.append(f"{more} more column{'s' * (more > 1)} counted less than those.")
    unused = [names[d] for d in np.flatnonzero(weights == 0)]
    if unused:
        lines.append(f"Not used to find the components: {some_of(unused)}.")
    return lines


def _being_known(observed: float) -> str:
    return f", being known for {percent(observed)} of rows" if observed < KNOWN else ""


MOST_PATTERNS, MOST_FEATURES = 12, 20
"""Patterns and columns that are drawn: as many as a phone shows with legible names."""
BARS = 90.0
"""Height of the bars above the patterns, in units of the drawing."""
SHARE = "% of rows"


def patterns_chart(found: Missingness) -> svg.Figure:
    """The most common patterns of missing values."""
    shown = found.patterns[:MOST_PATTERNS]
    gappy = [int(i) for i in np.argsort(found.observed, kind="stable") if found.observed[i] < 1]
    features = gappy[:MOST_FEATURES][::-1]
    left = svg.room_for([SHARE, *(found.names[i] for i in features)])
    step = (svg.WIDTH - left) / max(len(shown), 6)
    y, middle = BARS + 26, []
    most = max(pattern.n_rows for pattern in shown)
    parts = [svg.text(left - 6, 22, SHARE, "end", svg.GREY)]
    for number, i in enumerate(features):
        name = svg.wrapped(found.names[i], left - 8)
        high = svg.height_of(name)
        if number % 2 == 0:
            parts.append(svg.box(0, y, svg.WIDTH, high, svg.STRIPE))
        middle.append(y + high / 2)
        parts.append(svg.label(left, middle[-1], name))
        y += high
    rows = []
    for number, pattern in enumerate(shown):
        x = left + (number + 0.5) * step
        gone = [found.names[i] for i in range(len(found.names)) if not pattern.observed[i]]
        share = percent(pattern.n_rows / found.n_rows)
        words = _named(gone, len(found.names))
        height = BARS * pattern.n_rows / most
        shapes = [
            svg.box(x - step * 0.32, 16 + BARS - height, step * 0.64, height, svg.BLUE),
            svg.text(x, 12 + BARS - height, share.rstrip("%"), "middle", svg.DARK, 9),
        ]
        places = [n for n, i in enumerate(features) if not pattern.observed[i]]
        if len(places) > 1:
            shapes.append(svg.line(x, middle[places[0]], x, middle[places[-1]], svg.DARK))
        for n, place in enumerate(middle):
            shapes.append(svg.dot(x, place, 4.5, svg.DARK if n in places else svg.PALE))
        parts.append(svg.mark(f"{pattern.n_rows:,} rows ({share}): {words}", *shapes))
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
    drawing = svg.picture(title, y, parts)
    return svg.Figure(title, caption, drawing, ("missing", "rows", "share"), tuple(rows))


def _named(gone: list[str], n_features: int) -> str:
    if not gone:
        return "nothing is missing"
    if len(gone) == n_features:
        return "everything is missing"
    shown = gone if len(gone) <= 8 else [*gone[:8], f"{len(gone) - 8} more"]
    return f"without {', '.join(shown)}"
