"""Facts about the table, and the section on components."""

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from halfseen.data.formatting import percent, quoted
from halfseen.inference.fit import Fitted
from halfseen.report.certainty import ShownIntervals
from halfseen.report.charts.heat_map import heat_map_chart
from halfseen.report.main_line import NO_LINE, groups_anyway, main_line_section
from halfseen.report.portrait import Portrait
from halfseen.report.section import Card, ReportContext, Section


def facts(page: ReportContext) -> list[str]:
    """Facts about the table: rows, columns, missing values, and changes."""
    fitted, found = page.case.fitted, page.missing
    gaps = 1 - float(found.observed.mean())
    size = f"The table has {found.n_rows:,} rows and {len(found.names):,} columns"
    return [
        f"{size}; {percent(gaps)} of its cells are empty. Rows and columns with gaps were used as "
        "they are, and no value was made up to fill a gap."
        if gaps
        else f"{size}, and no gaps.",
        *_added(page.case.n_added),
        *_left_out(fitted),
        *_preprocessing(fitted),
    ]


def _added(n: int) -> list[str]:
    steps = "1 step" if n == 1 else f"{n:,} steps"
    return [f"{steps} between rows had none, and count as rows of which nothing is known."] * (
        n > 0
    )


def counted(view: Portrait) -> str:
    """The number of components, in words."""
    return f"{view.k} {view.nouns if view.k > 1 else view.noun}"


def _left_out(fitted: Fitted[object]) -> list[str]:
    coding = fitted.coding
    return [] if coding is None else [coding.sentences[i] for i in np.flatnonzero(~fitted.taken)]


def _preprocessing(fitted: Fitted[object]) -> list[str]:
    done = fitted.preprocessing
    if done is None or not done.changes:
        return []
    logged = [name for name, log in zip(done.columns, done.logged, strict=True) if log]
    said = []
    if logged:
        said.append(
            f"{', '.join(logged)} {'was' if len(logged) == 1 else 'were'} put on a log scale"
        )
    if (done.scale != 1).any():
        said.append("columns were divided by how much they vary")
    return [f"Before the fit {' and '.join(said)}; on this page all are in their own units."]


def components_section(page: ReportContext) -> list[Section]:
    """The section on components, or on the main line of one component."""
    withheld = _said_of_withheld(page.view, page.least_rows)
    if page.line is None:
        return [_components(page, [*_learned_from_outcomes(page), *withheld])]
    if page.line.exists:
        return [main_line_section(page, page.line)]
    section = _components(page, [NO_LINE, *groups_anyway(page.case, page.view), *withheld])
    return [replace(section, cards=())]


def _components(page: ReportContext, not_shown: list[str]) -> Section:
    """A card for each component, and a heat map."""
    view, sure = page.view, page.intervals
    heat = heat_map_chart(view, view.grid(sure.low, sure.high))
    cards = [
        Card(
            f"{view.noun.capitalize()} {i + 1}",
            f"{view.noun}-{i + 1}",
            float(view.shares[i]),
            f"{percent(view.shares[i])} {view.of_what}{_between(sure, i)}",
            told.lines,
        )
        for i, told in enumerate(view.descriptions())
    ]
    title = f"The {view.nouns}" if view.k > 1 else f"The one {view.noun}"
    order = [f"Numbered from the most common {view.noun}."] if view.k > 1 else []
    return Section("components", title, [*order, *not_shown], [heat], cards=cards)


def _between(sure: ShownIntervals, i: int) -> str:
    if sure.share_low is None or sure.share_high is None or len(sure.share_low) == 1:
        return ""
    return f" (between {100 * sure.share_low[i]:.1f}% and {100 * sure.share_high[i]:.1f}%)"


def _said_of_withheld(view: Portrait, least: float) -> list[str]:
    """Which components are withheld, and why."""
    few = view.withheld
    if not few.any():
        return []
    wholly = [f"{view.noun} {i + 1}" for i in np.flatnonzero(few.all(axis=1))]
    partly = few & ~few.all(axis=1, keepdims=True)
    what = []
    if wholly:
        what.append(f"averages of {', '.join(wholly)}")
    if partly.any():
        what.append(f"{percent(float(partly.mean()))} of all averages, each of one column")
    return [
        f"Not shown: {' and '.join(what)}. Fewer than {least:g} rows stand behind them, so that "
        "they would be nearly what is known of one of those."
    ]


OUTCOME = re.compile(
    r"(death|died|dead|mortality|surviv(ed|al)|relapsed?|readmi(tted|ssion)|outcome)s?(?![a-z])",
    re.IGNORECASE,
)


def outcomes_among(names: Iterable[str]) -> list[str]:
    """Columns whose names suggest outcomes.

    >>> outcomes_among(["age", "In-hospital_death", "hospdead", "Survived", "deadline"])
    ['In-hospital_death', 'hospdead', 'Survived']
    """
    return [name for name in names if OUTCOME.search(name)]


def _learned_from_outcomes(page: ReportContext) -> list[str]:
    """A sentence on outcomes that the model learned from, if there are any."""
    about, nouns = page.case.fitted.model.about, page.case.components
    if page.view.k == 1 or about.counts:
        return []
    found = outcomes_among(page.missing.names)
    if not found:
        return []
    they, them = ("sounds", "it") if len(found) == 1 else ("sound", "them")
    what = "an outcome" if len(found) == 1 else "outcomes"
    return [
        f"{quoted(found)} {they} like {what}, and the {nouns} were made of "
        f"{them} too. To see how {nouns} that know nothing of {them} differ, leave {them} out of "
        f"the fit and give {them} to the report as {what}."
    ]
