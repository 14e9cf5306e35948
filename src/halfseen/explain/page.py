"""The page: everything about a model that people should know, in one file."""

import base64
import hashlib
import os
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from halfseen.doubt.concerns import Case
from halfseen.explain.findings import components, counted, gaps, summary, weights
from halfseen.explain.missing import missing_in
from halfseen.explain.outcomes import Outcome, outcome_chapter
from halfseen.explain.paths import paths_chapter
from halfseen.explain.relevance import USUAL
from halfseen.explain.rows import RowsTable, some_rows
from halfseen.explain.section import Section
from halfseen.explain.shown_intervals import certainty
from halfseen.explain.sureness import caution, sureness
from halfseen.explain.withheld import LEAST_ROWS, said_of
from halfseen.store.atomic import write_whole


def write_report(
    case: Case,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
    least_rows: float = LEAST_ROWS,
    overwrite: bool = False,
    grouped: bool = False,
    outcomes: tuple[Outcome, ...] = (),
    relevance: float = USUAL,
) -> None:
    """Write the page of a fitted model and a table to ``path``."""
    text = report_page(
        case,
        title=title,
        notes=notes,
        include_rows=include_rows,
        least_rows=least_rows,
        grouped=grouped,
        outcomes=outcomes,
        relevance=relevance,
    )
    write_whole(path, text.encode("utf-8"), overwrite=overwrite)


def report_page(
    case: Case,
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
    least_rows: float = LEAST_ROWS,
    grouped: bool = False,
    outcomes: tuple[Outcome, ...] = (),
    relevance: float = USUAL,
) -> str:
    """The page as HTML. It holds no row of the table, and no cell, unless ``include_rows``.

    Averages that fewer than ``least_rows`` stand behind are withheld. ``grouped`` says
    that the case has rows which depend on each other in bins of their own; features are ranked
    by share and by what they tell as ``relevance`` has it.
    """
    case = replace(case.in_words(), cells_shown=include_rows)
    fitted, whole = case.fitted, case.portrait.telling(relevance)
    found, doubts = missing_in(case), whole.doubts(case.sample.rows)
    view = whole.for_sharing(doubts, case.sample, least_rows)
    sure = certainty(case, view)
    sections = [
        summary(fitted, view, found, notes),
        components(view, sure),
        *view.chapters(sure.of, case),
        *outcome_chapter(case, view, doubts.memberships, outcomes, least_rows),
        gaps(found, sequenced=case.rows.sequenced),
        weights(fitted, view),
        sureness(case, view, doubts, sure, grouped),
        caution(case, view, said_of(view, least_rows)),
    ]
    rows, sequences = None, case.sample.rows.sequences
    if include_rows and sequences is not None:
        sections.insert(-4, paths_chapter(view, sequences, doubts.memberships))
    if include_rows:
        rows = some_rows(view, fitted, case.sample, doubts.memberships)
    heading = title or f"{counted(view)} in {found.n_rows:,} rows"
    return _rendered(heading, sections, rows, fitted.estimator, least_rows)


def _rendered(
    heading: str,
    sections: list[Section],
    rows: RowsTable | None,
    estimator: str,
    least_rows: float,
) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"The report needs {missing.name}, which is not installed. Install it with: "
            "pip install 'halfseen[report]'",
            name=missing.name,
        ) from missing

    environment = Environment(
        loader=PackageLoader("halfseen.explain", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = (_asset(name) for name in ("page.js", "page.css"))
    return environment.get_template("page.html").render(
        heading=heading,
        sections=sections,
        rows=rows,
        estimator=estimator,
        least_rows=least_rows,
        version=version("halfseen"),
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
    )


def _asset(name: str) -> Any:
    from markupsafe import Markup

    return Markup(files("halfseen.explain").joinpath("assets", name).read_text("utf-8"))


def _digest(text: str) -> str:
    """What the page's own policy knows its script and style by; no others run."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
