"""The report: all sections in order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from halfseen.diagnostics.concerns import Concern, ConcernContext, concerns_of
from halfseen.diagnostics.concerns.concern import Subject
from halfseen.diagnostics.concerns.fit import LEAST_ROWS
from halfseen.diagnostics.topics import USUAL_RELEVANCE
from halfseen.report.certainty import caution_section, certainty_section, shown_intervals
from halfseen.report.columns import missing_in, missing_section, weights_section
from halfseen.report.components import components_section, counted, facts
from halfseen.report.example_rows import RowsTable, some_rows
from halfseen.report.hidden_states import paths_section
from halfseen.report.main_line import main_line
from halfseen.report.outcomes import Outcome, outcomes_section
from halfseen.report.registry import portrait_of
from halfseen.report.section import Card, ReportContext, Section, SectionMaker
from halfseen.report.summary import Summary, summarise
from halfseen.report.tables import tables_section

SECTIONS: tuple[SectionMaker, ...] = (
    components_section,
    lambda page: page.view.own_sections(page),
    tables_section,
    outcomes_section,
    paths_section,
    missing_section,
    weights_section,
    certainty_section,
    caution_section,
)
"""In the order of the page."""
PLACES = {
    Subject.COMPONENTS: "components",
    Subject.GAPS: "gaps",
    Subject.COLUMNS: "weights",
    Subject.VALUES: "sure",
    Subject.TABLES: "tables",
}
"""The section in which a concern stands, by what it is about."""


@dataclass(frozen=True, eq=False)
class Report:
    """The content of a report, independent of its format."""

    context: ReportContext
    heading: str
    summary: Summary
    facts: Sequence[str]  # about the table
    sections: Sequence[Section]
    rows: RowsTable | None  # of the table, if they are asked for
    version: str

    @property
    def estimator(self) -> str:
        """The name of the estimator's class."""
        return self.context.case.fitted.estimator

    @property
    def concerns(self) -> list[tuple[Section, Concern]]:
        """Concerns, each with its section."""
        return [(section, one) for section in self.sections for one in section.warnings]

    @property
    def cards(self) -> list[Card]:
        """One card a component."""
        return [card for section in self.sections for card in section.cards]

    @property
    def worst_anchor(self) -> str:
        """The anchor of the most serious concern."""
        worst = self.summary.worst
        return "distrust" if worst is None else PLACES[worst.about]


def context_of(
    case: ConcernContext,
    *,
    include_rows: bool = False,
    least_rows: float = LEAST_ROWS,
    grouped: bool = False,
    outcomes: tuple[Outcome, ...] = (),
    relevance: float = USUAL_RELEVANCE,
) -> ReportContext:
    """The context for sections; it holds no row unless ``include_rows``.

    Averages that fewer than ``least_rows`` stand behind are withheld. ``grouped`` says
    that the case has rows which depend on each other in bins of their own; features are ranked
    by share and by what they tell as ``relevance`` has it.
    """
    # Concerns are worded with the numbers that people see, and with cells only if asked for.
    case = replace(case.in_words(), cells_shown=include_rows)
    whole = portrait_of(case.fitted).ranked_by(relevance)
    rows = whole.row_certainty(case.sample.rows)
    view = whole.without_small_cells(rows, case.sample, least_rows)
    return ReportContext(
        case=case,
        view=view,
        row_certainty=rows,
        intervals=shown_intervals(case, view),
        missing=missing_in(case),
        concerns=concerns_of(case),
        line=main_line(case, least_rows),
        least_rows=least_rows,
        outcomes=outcomes,
        grouped=grouped,
        include_rows=include_rows,
    )


def report_of(
    case: ConcernContext, *, title: str | None = None, notes: tuple[str, ...] = (), **options: Any
) -> Report:
    """The report of a model and its table."""
    page = context_of(case, **options)
    sections = [section for make in SECTIONS for section in make(page)]
    return Report(
        context=page,
        heading=title or f"{counted(page.view)} in {page.missing.n_rows:,} rows",
        summary=summarise(page),
        facts=[*facts(page), *notes],
        sections=[_with_warnings(section, page.concerns) for section in sections],
        rows=some_rows(page) if page.include_rows else None,
        version=version("halfseen"),
    )


def _with_warnings(section: Section, concerns: Sequence[Concern]) -> Section:
    """A section with its concerns, most serious first."""
    own = [one for one in concerns if PLACES[one.about] == section.anchor]
    return replace(section, warnings=sorted(own, key=lambda one: -one.gravity))
