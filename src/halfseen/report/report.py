"""Everything about a model that people should know, before it is a page or a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version

from halfseen.diagnostics.concerns import Concern, ConcernContext, concerns_of
from halfseen.diagnostics.concerns.concern import Subject
from halfseen.diagnostics.concerns.fit import LEAST_ROWS
from halfseen.diagnostics.missingness import Missingness
from halfseen.diagnostics.topic_words import USUAL_RELEVANCE
from halfseen.report.certainty import Certainty, caution, certainty, sureness
from halfseen.report.columns import gaps, missing_in, weights
from halfseen.report.components import components, counted, facts, learned_from_outcomes, said_of
from halfseen.report.example_rows import RowsTable, some_rows
from halfseen.report.hidden_states import paths_section
from halfseen.report.main_line import NO_LINE, MainLine, groups_anyway, main_line, main_line_section
from halfseen.report.outcomes import Outcome, outcomes_section
from halfseen.report.portrait import Portrait
from halfseen.report.registry import portrait_of
from halfseen.report.section import Card, Section
from halfseen.report.summary import Summary, summarise
from halfseen.report.tables import tables_section

PLACES = {
    Subject.COMPONENTS: "components",
    Subject.GAPS: "gaps",
    Subject.COLUMNS: "weights",
    Subject.VALUES: "sure",
    Subject.TABLES: "tables",
}
"""The chapter in which a concern stands, by what it is about."""


@dataclass(frozen=True, eq=False)
class Report:
    """What a page says, whatever it is written as."""

    heading: str
    summary: Summary
    facts: Sequence[str]  # about the table
    sections: Sequence[Section]
    rows: RowsTable | None  # of the table, if they are asked for
    least_rows: float  # that stand behind every number
    estimator: str
    assumes: str
    view: Portrait
    sure: Certainty
    missing: Missingness
    line: MainLine | None  # along which rows of one group differ
    version: str

    @property
    def concerns(self) -> list[tuple[Section, Concern]]:
        """Each with the chapter in which it stands."""
        return [(section, one) for section in self.sections for one in section.warnings]

    @property
    def cards(self) -> list[Card]:
        """One a component."""
        return [card for section in self.sections for card in section.cards]

    @property
    def worst_anchor(self) -> str:
        """Where there is more on what to distrust most."""
        worst = self.summary.worst
        return "distrust" if worst is None else PLACES[worst.about]


def report_of(
    case: ConcernContext,
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
    least_rows: float = LEAST_ROWS,
    grouped: bool = False,
    outcomes: tuple[Outcome, ...] = (),
    relevance: float = USUAL_RELEVANCE,
) -> Report:
    """What there is to say. It holds no row of the table, and no cell, unless ``include_rows``.

    Averages that fewer than ``least_rows`` stand behind are withheld. ``grouped`` says
    that the case has rows which depend on each other in bins of their own; features are ranked
    by share and by what they tell as ``relevance`` has it.
    """
    case = replace(case.in_words(), cells_shown=include_rows)
    fitted, whole = case.fitted, portrait_of(case.fitted).telling(relevance)
    found, doubts = missing_in(case), whole.doubts(case.sample.rows)
    view = whole.for_sharing(doubts, case.sample, least_rows)
    sure, concerns = certainty(case, view), concerns_of(case)
    line, said = main_line(case, least_rows), said_of(view, least_rows)
    sections = [
        components(view, sure, [*_of_outcomes(case, found), *said])
        if line is None
        else _one_group(line, case, view, sure, said),
        *view.chapters(sure.of, case),
        *tables_section(case, view, least_rows),
        *outcomes_section(case, view, doubts.memberships, outcomes, least_rows),
        gaps(found, {one.kind for one in concerns}, sequenced=case.rows.sequenced),
        weights(fitted, view),
        sureness(case, view, doubts, sure, grouped),
        caution(case, view, concerns),
    ]
    rows, sequences = None, case.sample.rows.sequences
    if include_rows and sequences is not None:
        sections.insert(-4, paths_section(view, sequences, doubts.memberships))
    if include_rows:
        rows = some_rows(view, fitted, case.sample, doubts.memberships)
    return Report(
        heading=title or f"{counted(view)} in {found.n_rows:,} rows",
        summary=summarise(case, view, doubts, found.n_rows, concerns, line),
        facts=[*facts(fitted, found, case.n_added), *notes],
        sections=[_with_warnings(section, concerns) for section in sections],
        rows=rows,
        least_rows=least_rows,
        estimator=fitted.estimator,
        assumes=fitted.model.about.assumes,
        view=view,
        sure=sure,
        missing=found,
        line=line if line and line.exists else None,
        version=version("halfseen"),
    )


def _one_group(
    line: MainLine, case: ConcernContext, view: Portrait, sure: Certainty, said: list[str]
) -> Section:
    """The line along which rows differ; if there is none, the averages of all rows."""
    if line.exists:
        return main_line_section(line, case, view)
    sentences = [NO_LINE, *groups_anyway(case, view), *said]
    return replace(components(view, sure, sentences), cards=())


def _of_outcomes(case: ConcernContext, found: Missingness) -> list[str]:
    """Whether what became of rows is among what components were made of; counts are no outcomes."""
    if case.fitted.n_components == 1 or case.fitted.model.about.counts:
        return []
    return learned_from_outcomes(found.names, case.components)


def _with_warnings(section: Section, concerns: Sequence[Concern]) -> Section:
    """The chapter with the concerns that are about it, the gravest first."""
    own = [one for one in concerns if PLACES[one.about] == section.anchor]
    return replace(section, warnings=sorted(own, key=lambda one: -one.gravity))
