"""A report as a file: a page for people, or its twins for programs."""

import os
from pathlib import Path
from typing import Any

from halfseen.diagnostics.concerns import ConcernContext
from halfseen.persistence.atomic import write_whole
from halfseen.report.page import as_page
from halfseen.report.report import report_of
from halfseen.report.twin import as_json, as_markdown

FORMATS = {"html": as_page, "json": as_json, "md": as_markdown}


def format_of(path: str | os.PathLike[str], asked: str | None = None) -> str:
    """The format that is asked for, or that the name of a file ends in; else a page."""
    if asked is None:
        ending = Path(path).suffix.lower().lstrip(".")
        return ending if ending in FORMATS else "html"
    if asked not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}. Got {asked!r} instead.")
    return asked


def report_as(case: ConcernContext, format: str = "html", **options: Any) -> str:
    """The report in a format, with the options of ``report_of``."""
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
