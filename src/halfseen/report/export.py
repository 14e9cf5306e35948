"""Write a report as HTML, JSON or Markdown.

All hold the same: no row and no cell unless rows were asked for, and nothing that too few rows
stand behind.
"""

import base64
import hashlib
import json
import math
import os
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from halfseen.data.arrays import Array, Mask
from halfseen.diagnostics.concerns import ConcernContext
from halfseen.persistence.atomic import write_whole
from halfseen.report.main_line import MainLine
from halfseen.report.portrait import Portrait
from halfseen.report.report import Report, report_of
from halfseen.report.section import Section


def as_page(report: Report) -> str:
    """The page as self-contained HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # late: only pages need it

    environment = Environment(
        loader=PackageLoader("halfseen.report", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = (_asset(name) for name in ("page.js", "page.css"))
    return environment.get_template("page.html").render(
        report=report,
        script=script,
        style=style,
        script_digest=_digest(script),
        style_digest=_digest(style),
    )


def _asset(name: str) -> Markup:
    return Markup(files("halfseen.report").joinpath("assets", name).read_text("utf-8"))


def _digest(text: str) -> str:
    """The hash of a script or style, for the page's content security policy."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


SCHEMA = "report.schema.json"
SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its meaning or goes."""
MANY_COLUMNS = 1000
"""Averages of more columns are given only of those that components have most of."""
DIGITS = 3
"""Significant ones of numbers, as on the page; whole numbers have all."""


def schema() -> dict[str, Any]:
    """The JSON schema of reports."""
    text = files("halfseen.report").joinpath("assets", SCHEMA).read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def as_json(report: Report) -> str:
    """The report as JSON."""
    return json.dumps(as_data(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_data(report: Report) -> dict[str, Any]:
    """The report as the schema has it."""
    page, short, shown = report.context, report.summary, _shown(report.context.view)
    view, missing = page.view, page.missing
    briefs = view.briefs()
    return {
        "schema_version": SCHEMA_VERSION,
        "title": report.heading,
        "written_by": f"halfseen {report.version}",
        "model": {
            "estimator": report.estimator,
            "noun": view.noun,
            "n_components": view.k,
            "assumes": page.case.fitted.model.about.assumes,
        },
        "table": {
            "n_rows": missing.n_rows,
            "n_columns": len(missing.names),
            "empty": _number(1 - float(missing.observed.mean())),
            "notes": list(report.facts),
        },
        "in_short": {"found": short.found, "sure": short.sure, "distrust": short.distrust},
        "least_rows": _number(page.least_rows),
        "components": [_component(report, i, briefs[i], shown) for i in range(view.k)],
        "main_line": _main_line(page.line) if page.line and page.line.exists else None,
        "average": _by_column(view.names, view.average, shown & np.isfinite(view.average)),
        "concerns": [
            {
                "kind": one.kind,
                "sentence": one.sentence,
                "about": one.about.value,
                "gravity": one.gravity.name.lower(),
                "chapter": section.anchor,
            }
            for section, one in report.concerns
        ],
        "columns": [
            {"name": name, "known": _number(known)} for name, known in _least_known(report)
        ],
        "chapters": [_section_data(section) for section in report.sections],
        "rows": report.rows and {"head": report.rows.head, "rows": report.rows.rows},
    }


def _least_known(report: Report) -> list[tuple[str, float]]:
    names, observed = report.context.missing.names, report.context.missing.observed
    chosen = np.sort(np.argsort(observed, kind="stable")[:MANY_COLUMNS])
    return [(names[d], float(observed[d])) for d in chosen]


def _shown(view: Portrait) -> Mask:
    """Columns whose averages are given; of very many, the most different ones; (d,)."""
    k, d = view.centres.shape
    if d <= MANY_COLUMNS:
        return np.ones(d, bool)
    shown = np.zeros(d, bool)
    shown[np.argsort(-np.nan_to_num(view.centres), axis=1)[:, : MANY_COLUMNS // k + 1]] = True
    return shown


def _component(report: Report, i: int, brief: str, shown: Mask) -> dict[str, Any]:
    view, sure = report.context.view, report.context.intervals
    card = report.cards[i] if report.cards else None  # one group has none
    shown = shown & ~view.withheld[i] & np.isfinite(view.centres[i])
    low, high = sure.share_low, sure.share_high
    return {
        "number": i + 1,
        "component": int(view.order[i]),
        "anchor": card.anchor if card else "components",
        "share": _number(view.shares[i]),
        "share_interval": None
        if low is None or high is None
        else [_number(low[i]), _number(high[i])],
        "withheld": bool(view.withheld[i].all()),
        "brief": brief,
        "lines": list(card.lines) if card else [],
        "averages": _by_column(view.names, view.centres[i], shown),
        "intervals": _intervals(report, i, shown),
    }


def _main_line(line: MainLine) -> dict[str, Any]:
    return {
        "explained": _number(line.trait.share),
        "columns": [
            {
                "name": line.name(i),
                "explained": _number(line.trait.explained[i]),
                "direction": int(line.trait.direction[i]),
            }
            for i in line.order
        ],
    }


def _by_column(names: tuple[str, ...], values: Array, shown: Mask) -> dict[str, float]:
    return {names[int(d)]: _number(values[d]) for d in np.flatnonzero(shown)}


def _intervals(report: Report, i: int, shown: Mask) -> dict[str, list[float]]:
    view, low, high = (
        report.context.view,
        report.context.intervals.low,
        report.context.intervals.high,
    )
    if low is None or high is None:
        return {}
    known = shown & np.isfinite(low[i]) & np.isfinite(high[i])
    return {view.names[d]: [_number(low[i, d]), _number(high[i, d])] for d in np.flatnonzero(known)}


def _section_data(section: Section) -> dict[str, Any]:
    return {
        "anchor": section.anchor,
        "title": section.title,
        "sentences": [*section.sentences, *section.points],
        "charts": [
            {
                "anchor": section.anchor_of(i),
                "title": figure.title,
                "caption": figure.caption,
                "head": list(figure.head),
                "rows": [list(row) for row in figure.rows],
            }
            for i, figure in enumerate(section.figures)
        ],
    }


def _number(value: Any) -> float:
    """A number rounded as on the page.

    >>> _number(0.012345), _number(-1234.5), _number(0.0)
    (0.0123, -1234.0, 0.0)
    """
    size = abs(float(value))
    digits = DIGITS - 1 - math.floor(math.log10(size)) if size > 0 else 0
    return round(float(value), max(digits, 0))


def as_markdown(report: Report) -> str:
    """The report as Markdown."""
    short = report.summary
    lines = [
        f"# {_text(report.heading)}",
        "",
        f"- **What there is.** {_text(short.found)}",
        f"- **How sure.** {_text(short.sure)}",
        f"- **Distrust most.** {_text(short.distrust)}",
        "",
        *_paragraphs(report.facts),
    ]
    for section in report.sections:
        lines += _chapter_lines(section)
    if report.rows is not None:
        lines += ["## Some rows", "", *_table(report.rows.head, report.rows.rows)]
    lines += [f"*Written by halfseen {report.version} from a {report.estimator} model.*", ""]
    return "\n".join(lines)


def _chapter_lines(section: Section) -> list[str]:
    lines = [f"## {_text(section.title)}", ""]
    for warning in section.warnings:
        lines += [f"> **Warning.** {_text(warning.sentence)}", ""]
    lines += _paragraphs(section.sentences)
    lines += _points(section.points)
    for card in section.cards:
        lines += [f"### {_text(card.name)}: {_text(card.words)}", "", *_points(card.lines)]
    for figure in section.figures:
        lines += [f"### {_text(figure.title)}", "", _text(figure.caption), ""]
        lines += _table(figure.head, figure.rows)
    return lines


def _paragraphs(sentences: Sequence[str]) -> list[str]:
    return [line for sentence in sentences for line in (_text(sentence), "")]


def _points(points: Sequence[str]) -> list[str]:
    return [*(f"- {_text(point)}" for point in points), *([""] if points else [])]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(_text(cell) for cell in cells)} |"

    return [line(head), line(["---"] * len(head)), *map(line, rows), ""]


def _text(words: str) -> str:
    """Text with Markdown and HTML escaped."""
    return re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", " ".join(words.split()))


FORMATS = {"html": as_page, "json": as_json, "md": as_markdown}


def format_of(path: str | os.PathLike[str], asked: str | None = None) -> str:
    """The requested format, or that of the file's ending; HTML by default."""
    if asked is None:
        ending = Path(path).suffix.lower().lstrip(".")
        return ending if ending in FORMATS else "html"
    if asked not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}. Got {asked!r} instead.")
    return asked


def report_as(case: ConcernContext, format: str = "html", **options: Any) -> str:
    """The report in a format."""
    return FORMATS[format](report_of(case, **options))


def write_report(
    case: ConcernContext,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    overwrite: bool = False,
    **options: Any,
) -> None:
    """Write the report of a fitted model and a table to ``path``."""
    text = report_as(case, format_of(path, format), **options)
    write_whole(path, text.encode("utf-8"), overwrite=overwrite)
