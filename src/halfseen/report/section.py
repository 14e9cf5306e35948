"""The contract of a section, and the context that sections are made from."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from halfseen.diagnostics.concerns.concern import Concern, ConcernContext
from halfseen.diagnostics.missingness import Missingness
from halfseen.report.charts.drawing import Figure

if TYPE_CHECKING:
    from halfseen.report.certainty import ShownIntervals
    from halfseen.report.main_line import MainLine
    from halfseen.report.outcomes import Outcome
    from halfseen.report.portrait import Portrait, RowCertainty


class Card(NamedTuple):
    """A card of one component."""

    name: str
    anchor: str
    share: float
    words: str  # how common it is, and how sure that is
    lines: list[str]


@dataclass(frozen=True, eq=False)
class Section:
    """A title and what it shows: sentences, points, cards of components, charts."""

    anchor: str
    title: str
    sentences: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    points: Sequence[str] = ()
    cards: Sequence[Card] = ()
    warnings: Sequence[Concern] = ()

    def anchor_of(self, number: int) -> str:
        """The anchor of one of the figures."""
        title = re.sub(r"[^a-z0-9]+", "-", self.figures[number].title.lower()).strip("-")
        before = [self.figures[i].title for i in range(number)]
        again = f"-{number + 1}" if self.figures[number].title in before or not title else ""
        return f"{self.anchor}-{title}{again}"


@dataclass(frozen=True, eq=False)
class ReportContext:
    """What sections are made from, with the options of the report."""

    case: ConcernContext
    view: "Portrait"  # without what too few rows stand behind
    row_certainty: "RowCertainty"  # of the rows of the case's sample
    intervals: "ShownIntervals"
    missing: Missingness
    concerns: Sequence[Concern]
    line: "MainLine | None"  # along which rows of one component differ
    least_rows: float  # that stand behind every number
    outcomes: "tuple[Outcome, ...]" = ()
    grouped: bool = False  # whether rows of one bin depend on each other
    include_rows: bool = False


SectionMaker = Callable[[ReportContext], Sequence[Section]]
"""One file of the report: no section if it has nothing to say."""
