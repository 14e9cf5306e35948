"""A chapter of the page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from halfseen.diagnostics.concerns.concern import Concern
from halfseen.report.charts.drawing import Figure


class Card(NamedTuple):
    """One component: how common it is, and what sets it apart."""

    name: str
    anchor: str
    share: float
    words: str  # how common it is, and how sure that is
    lines: list[str]


@dataclass(frozen=True, eq=False)
class Section:
    """A chapter of the page."""

    anchor: str
    title: str
    sentences: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    points: Sequence[str] = ()
    cards: Sequence[Card] = ()
    warnings: Sequence[Concern] = ()

    def anchor_of(self, number: int) -> str:
        """By which one of the figures is linked to."""
        title = re.sub(r"[^a-z0-9]+", "-", self.figures[number].title.lower()).strip("-")
        before = [self.figures[i].title for i in range(number)]
        again = f"-{number + 1}" if self.figures[number].title in before or not title else ""
        return f"{self.anchor}-{title}{again}"
