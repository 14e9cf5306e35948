"""The page: everything about a model that people should know, in one file."""

import base64
import hashlib
import os
from importlib.resources import files
from typing import Any

import numpy as np

from halfseen.doubt.concerns import case_of, concerns_of
from halfseen.doubt.concerns.spectrum import noise_of_spectrum
from halfseen.doubt.missingness import missingness_of
from halfseen.explain.certainty import certainty
from halfseen.explain.findings import components, gaps, summary, weights
from halfseen.explain.rows import RowsTable, some_rows
from halfseen.explain.section import Section
from halfseen.explain.shown import shown
from halfseen.explain.sureness import caution, sureness
from halfseen.store.atomic import write_whole
from halfseen.tables.arrays_and_frames import read_new_table
from halfseen.tables.columns import in_fitted_order


def write_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
    overwrite: bool = False,
    groups: Any = None,
) -> None:
    """Write the page of a fitted model and a table ``X`` (n, d) to ``path``."""
    text = report_page(model, X, title=title, notes=notes, include_rows=include_rows, groups=groups)
    write_whole(path, text.encode("utf-8"), overwrite=overwrite)


def report_page(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
    groups: Any = None,
) -> str:
    """The page as HTML. It holds no row of X unless ``include_rows``.

    ``groups`` (n,) label rows that depend on each other.
    """
    X = X.toarray() if hasattr(X, "toarray") else X
    table = np.asarray(read_new_table(model, X), dtype=float)
    ordered = in_fitted_order(model, X)
    view = shown(model)
    found = missingness_of(view.names, table)
    sure = certainty(model, view, ordered, table, groups)
    this = case_of(model, ordered, groups=groups, names=view.names, called=view.called)
    speaks_against = concerns_of(this)
    heading = title or f"{view.k} {view.kind}{'s' * (view.k > 1)} in {len(table):,} rows"
    sections = [
        summary(model, view, found, notes),
        components(view, sure),
        gaps(found),
        weights(model, view),
        sureness(model, view, sure, noise_of_spectrum(this), groups is not None),
        caution(model, view, found, sure, [concern.sentence for concern in speaks_against]),
    ]
    rows = some_rows(model, view, sure, table) if include_rows else None
    return _rendered(heading, sections, rows, type(model).__name__)


def _rendered(heading: str, sections: list[Section], rows: RowsTable | None, estimator: str) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"The report needs {missing.name}, which is not installed. Install it with: "
            "pip install 'halfseen[report]'",
            name=missing.name,
        ) from missing
    from halfseen import __version__

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
        version=__version__,
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
