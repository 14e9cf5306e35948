"""Portrait of hidden states: duration, transitions, and example paths."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.formatting import number, percent
from halfseen.data.sequences import Sequences
from halfseen.report.charts import drawing as svg
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.by_component import COLOURS
from halfseen.report.charts.heat_map import heat_map_chart
from halfseen.report.classes import Classes
from halfseen.report.portrait import Grid, Portrait
from halfseen.report.section import ReportContext, Section

NEVER = 1e-3
"""Chances below are as good as none."""
LASTING = 1000.0
"""Rows beyond which a state is said to last for good."""


@dataclass(frozen=True, eq=False)
class States(Classes):
    """Portrait of hidden states."""

    start: Array  # (k,)     of first rows
    transition: Array  # (k, k)  from each to each

    @classmethod
    def made_of(cls, classes: Classes, start: Array, transition: Array) -> Self:
        """States from classes, and their transitions."""
        return cls(**vars(classes), start=start, transition=transition)

    @property
    def lasting(self) -> Array:
        """The mean duration of each state, in rows; (k,)."""
        return 1 / np.maximum(1 - self.transition.diagonal(), 1e-12)

    def own_sections(self, page: ReportContext) -> list[Section]:
        return [*super().own_sections(page), self._following()] if self.k > 1 else []

    def _following(self) -> Section:
        sentences = [self._told_of(i) for i in range(self.k)]
        return Section(
            "following",
            f"How {self.nouns} follow each other",
            sentences,
            [heat_map_chart(self, self._moves()), self._begins()],
        )

    def _told_of(self, i: int) -> str:
        name, lasts = f"{self.noun.capitalize()} {i + 1}", float(self.lasting[i])
        others = [(self.transition[i, j], j) for j in range(self.k) if j != i]
        left = sum(chance for chance, _ in others)
        if left < NEVER or lasts > LASTING:
            return f"{name} is hardly ever left: whoever is in it stays."
        chance, j = max(others)
        after = f"{self.noun} {j + 1}"
        which = f"is followed by {after}" if self.k == 2 else f"is mostly followed by {after}"
        share = "" if self.k == 2 else f" ({percent(chance / left)} of the times that it is left)"
        return f"{name} lasts {number(lasts)} rows on average, and {which}{share}."

    def _moves(self) -> Grid:
        names = [f"{self.noun} {i + 1}" for i in range(self.k)]
        return Grid(
            title=f"What follows each {self.noun}",
            caption=f"How likely a row in the {self.noun} of a line is followed by one in that of "
            "a column. The stronger the colour, the likelier.",
            features=[],
            lines=[f"after {name}" for name in names],
            shade=self.transition,
            texts=[[percent(float(x)) for x in line] for line in self.transition],
            tips=[
                [
                    f"{percent(float(x))} of rows in {names[i]} are followed by {names[j]}"
                    for j, x in enumerate(line)
                ]
                for i, line in enumerate(self.transition)
            ],
            n_lines=self.k,
            what="lines",
        )

    def _begins(self) -> svg.Figure:
        return bar_chart(
            "How sequences begin",
            f"Share of sequences whose first row is in each {self.noun}.",
            [
                Bar(
                    f"{self.noun} {i + 1}",
                    float(share),
                    percent(float(share)),
                    f"{percent(float(share))} of sequences begin in {self.noun} {i + 1}",
                )
                for i, share in enumerate(self.start)
            ],
            (self.noun, "begins"),
        )


MOST_PATHS, MOST_STEPS = 12, 120
"""Sequences that are drawn, and steps of each: thinner strips could not be told apart."""
LEFT, HEIGHT, HEAD = 62.0, 14.0, 20.0


def paths_section(page: ReportContext) -> list[Section]:
    """Example paths, from the fewest changes to the most."""
    view, sequences = page.view, page.case.sample.rows.sequences
    if not page.include_rows or sequences is None:
        return []
    section = Section(
        "paths",
        f"Some sequences, {view.noun} by {view.noun}",
        [
            f"Each line is one sequence of rows, coloured by the likeliest {view.noun} of each. "
            "They were taken from those that hardly change to those that change most."
        ],
        [_paths_chart(view, sequences, page.row_certainty.memberships.argmax(axis=1))],
    )
    return [section]


def _paths_chart(view: Portrait, sequences: Sequences, states: NDArray[np.intp]) -> svg.Figure:
    ends, lengths = sequences.ends, sequences.lengths
    firsts = ends - lengths
    paths = [states[a:b][:MOST_STEPS] for a, b in zip(firsts, ends, strict=True)]
    changes = np.array([np.count_nonzero(np.diff(path)) for path in paths])
    order = np.lexsort((firsts, changes))
    chosen = order[np.unique(np.linspace(0, len(order) - 1, MOST_PATHS).round().astype(int))]
    step = (svg.WIDTH - LEFT) / max(len(paths[i]) for i in chosen)
    parts, rows, y = _legend(view), [], HEAD
    for i in chosen:
        name = f"row {firsts[i] + 1}"
        parts.append(svg.text(LEFT - 5, y + HEIGHT - 4, name, "end", size=10))
        shapes = [
            svg.box(LEFT + t * step, y, step, HEIGHT - 3, _colour(int(state)))
            for t, state in enumerate(paths[i])
        ]
        told = ", ".join(str(state + 1) for state in paths[i])
        parts.append(svg.mark(f"from {name} on: {view.nouns} {told}", *shapes))
        rows.append((name, told))
        y += HEIGHT
    title = "Some sequences"
    caption = f"The likeliest {view.noun} of each row, from the first to the last of a sequence."
    return svg.Figure(
        title, caption, svg.picture(title, y + 4, parts), ("from", view.nouns), tuple(rows)
    )


def _legend(view: Portrait) -> list[Markup]:
    wide = (svg.WIDTH - LEFT) / view.k
    parts: list[Markup] = []
    for i in range(view.k):
        parts.append(svg.box(LEFT + i * wide, 3, 9, 9, _colour(i)))
        parts.append(svg.text(LEFT + i * wide + 12, 11, str(i + 1), "start", svg.DARK, 10))
    return parts


def _colour(state: int) -> str:
    return svg.as_hex(COLOURS[state % len(COLOURS)])
