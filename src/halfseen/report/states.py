"""States of rows that follow each other, shown to people: how long they last, and what follows."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import number, percent
from halfseen.diagnostics.concerns.concern import ConcernContext
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.drawing import Figure
from halfseen.report.charts.heat_map import heat_map_chart
from halfseen.report.classes import Classes
from halfseen.report.portrait import Grid, Sure
from halfseen.report.section import Section

NEVER = 1e-3
"""Chances below are as good as none."""
LASTING = 1000.0
"""Rows beyond which a state is said to last for good."""


@dataclass(frozen=True, eq=False)
class States(Classes):
    """States that rows are in, one after the other."""

    start: Array  # (k,)     of first rows
    transition: Array  # (k, k)  from each to each

    @classmethod
    def made_of(cls, classes: Classes, start: Array, transition: Array) -> Self:
        """From classes, and how they follow each other in the same order."""
        return cls(**vars(classes), start=start, transition=transition)

    @property
    def lasting(self) -> Array:
        """How many rows a stay in each state lasts on average; (k,)."""
        return 1 / np.maximum(1 - self.transition.diagonal(), 1e-12)

    def chapters(self, sure: Sure, case: ConcernContext) -> list[Section]:
        """How states follow each other, after what tells them apart."""
        return [*super().chapters(sure, case), self._following()] if self.k > 1 else []

    def _following(self) -> Section:
        sentences = [self._told_of(i) for i in range(self.k)]
        return Section(
            "following",
            f"How {self.nouns} follow each other",
            sentences,
            [heat_map_chart(self, self._moves()), self._begins()],
        )

    def _told_of(self, i: int) -> str:
        """One state: how long it lasts, and what comes after it."""
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

    def _begins(self) -> Figure:
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
