"""The page: everything about a model that people should know, in one file."""

import base64
import hashlib
import os
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from halfseen.estimators.columns import in_fitted_order
from halfseen.estimators.table import read_new_table
from halfseen.missingness import Missingness, missingness
from halfseen.modelfile.atomic import write_whole
from halfseen.report.certainty import SURE, Certainty, certainty
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.drawing import Figure
from halfseen.report.charts.heat_map import groups_chart, topics_chart
from halfseen.report.charts.patterns import patterns_chart
from halfseen.report.charts.plane import histogram, spectrum_chart
from halfseen.report.distrust import concerns, noise_level
from halfseen.report.gaps import what_is_missing
from halfseen.report.rows import RowsTable, some_rows
from halfseen.report.shown import Shown, shown
from halfseen.report.words import Told, percent, told, weights_told


@dataclass(frozen=True, eq=False)
class Section:
    """A chapter of the page."""

    anchor: str
    title: str
    sentences: list[str]
    figures: list[Figure]
    points: list[str]
    told: list[Told]


def write_report(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
    overwrite: bool = False,
) -> None:
    """Write the page of a fitted model and a table ``X`` (n, d) to ``path``."""
    text = report_page(model, X, title=title, notes=notes, include_rows=include_rows)
    write_whole(path, text.encode("utf-8"), overwrite=overwrite)


def report_page(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    notes: tuple[str, ...] = (),
    include_rows: bool = False,
) -> str:
    """The page as HTML. It holds no row of X unless ``include_rows``."""
    X = X.toarray() if hasattr(X, "toarray") else X
    table = np.asarray(read_new_table(model, X), dtype=float)
    ordered = in_fitted_order(model, X)
    view = shown(model)
    found = missingness(view.names, table)
    sure = certainty(model, view, ordered, table)
    heading = title or f"{view.k} {view.kind}{'s' * (view.k > 1)} in {len(table):,} rows"
    sections = [
        _summary(model, view, found, notes),
        _components(view, sure),
        _gaps(found),
        _weights(model, view),
        _sureness(model, view, sure),
        _caution(model, view, found, sure),
    ]
    rows = some_rows(model, view, sure, table) if include_rows else None
    return _rendered(heading, sections, rows, type(model).__name__)


def _summary(model: Any, view: Shown, found: Missingness, notes: tuple[str, ...]) -> Section:
    gaps = 1 - float(found.observed.mean())
    sentences = [
        f"The table has {found.n_rows:,} rows and {len(found.names)} columns; {percent(gaps)} of "
        "its cells are empty. Rows and columns with gaps were used as they are, and no value was "
        "made up to fill a gap.",
        f"The model describes them by {view.k} {view.kind}{'s' * (view.k > 1)}, numbered from the "
        "most common.",
        *_preprocessing(model),
        *notes,
    ]
    return Section("summary", "In short", sentences, [], [], [])


def _preprocessing(model: Any) -> list[str]:
    done = model.preprocessing_
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


def _components(view: Shown, sure: Certainty) -> Section:
    heat = topics_chart(view) if view.kind == "topic" else groups_chart(view, sure.low, sure.high)
    whole = "of rows" if view.kind == "group" else "of all that is counted"
    shares = bar_chart(
        f"How common the {view.kind}s are",
        f"Share {whole}.",
        [
            Bar(
                f"{view.kind} {i + 1}",
                float(share),
                percent(share),
                f"{view.kind} {i + 1}: {100 * share:.1f}% {whole}",
            )
            for i, share in enumerate(view.shares)
        ],
        (view.kind, "share"),
    )
    return Section("components", f"The {view.kind}s", [], [shares, heat], [], told(view))


def _gaps(found: Missingness) -> Section:
    order = np.argsort(-found.observed, kind="stable")
    known = bar_chart(
        "How often each column is known",
        "Share of rows in which the column has a value.",
        [
            Bar(
                found.names[i],
                float(found.observed[i]),
                percent(found.observed[i]),
                f"{found.names[i]}: known in {100 * found.observed[i]:.1f}% of rows",
            )
            for i in order
        ],
        ("column", "known"),
    )
    figures = [known, patterns_chart(found)] if len(found.patterns) > 1 else [known]
    return Section("gaps", "What was missing", list(what_is_missing(found)), figures, [], [])


def _weights(model: Any, view: Shown) -> Section:
    weights, observed = model.feature_weights_, model.observed_fraction_
    top = float(weights.max(initial=0.0)) or 1.0
    chart = bar_chart(
        "How much each column counted",
        "Bars are weights, the largest being 1; the mark is the share of rows in which the column "
        "is known.",
        [
            Bar(
                view.names[i],
                weights[i] / top,
                f"{weights[i] / top:.2f}",
                f"{view.names[i]}: weight {weights[i] / top:.2f}, known in "
                f"{100 * observed[i]:.1f}% of rows",
                float(observed[i]),
            )
            for i in np.lexsort((-observed, -weights))
        ],
        ("column", "weight"),
    )
    sentences = [
        "Columns with many gaps are known less well: what is measured of them, and of how they go "
        "along with others, is less certain. So they counted less when the "
        f"{view.kind}s were sought. Once these were found, every known value was used to describe "
        "them.",
    ]
    points = weights_told(view.names, weights, observed)
    return Section("weights", "What was weighted, and why", sentences, [chart], points, [])


def _sureness(model: Any, view: Shown, sure: Certainty) -> Section:
    sentences, figures = _of_rows(view, sure)
    hidden = sure.hidden
    if hidden is not None:
        sentences.append(
            f"{len(hidden.true):,} known values were hidden from the model and filled in again. It "
            f"explains {_explained(hidden.explained())} of their variance, and "
            f"{percent(hidden.within(2.0))} of them lie within two of its standard deviations (95% "
            "should)."
        )
        parts = [(int(i), hidden.explained(hidden.feature == i)) for i in np.unique(hidden.feature)]
        parts.sort(key=lambda part: -part[1])
        figures.append(
            bar_chart(
                "How well gaps are filled",
                "Share of the variance of hidden values that the model explains; 0 is no better "
                "than the average.",
                [
                    Bar(
                        view.names[i],
                        share,
                        _explained(share),
                        f"{view.names[i]}: {_explained(share)} of the variance of hidden values "
                        "explained",
                    )
                    for i, share in parts
                ],
                ("column", "explained"),
            )
        )
    seen = model.diagnostics_
    figures.append(
        spectrum_chart(seen.spectrum, seen.n_kept_eigenvalues, noise_level(seen.spectrum))
    )
    return Section("sure", "How sure we are", sentences, figures, [], [])


def _explained(share: float) -> str:
    return "none" if share <= 0.005 else percent(share)


def _of_rows(view: Shown, sure: Certainty) -> tuple[list[str], list[Figure]]:
    if view.kind == "topic":
        middle = float(np.median(sure.doubt))
        chart = histogram(
            "How sure we are of each row's main topic",
            f"Rows by the relative error of their largest topic ({len(sure.rows):,} rows).",
            "relative standard error",
            sure.doubt,
            0.0,
            float(np.quantile(sure.doubt, 0.99)) or 1.0,
        )
        sentence = f"In a typical row the amount of its main topic is known to within {middle:.0%}."
        return [sentence], [chart]
    sentences = [
        "Averages of groups come with the interval that sampling leaves open, if the groups are "
        "right (point at a cell of the chart of groups to see it)."
    ]
    if view.k == 1:
        return sentences, []
    sentences.insert(
        0,
        f"{percent(float((sure.doubt >= SURE).mean()))} of rows belong to one group with a "
        f"probability of at least {SURE:.0%}; the mean is {sure.doubt.mean():.0%}.",
    )
    chart = histogram(
        "How sure we are of each row's group",
        f"Rows by the probability of their likeliest group ({len(sure.rows):,} rows).",
        "probability of the likeliest group",
        sure.doubt,
        1 / view.k,
        1.0,
    )
    return sentences, [chart]


def _caution(model: Any, view: Shown, found: Missingness, sure: Certainty) -> Section:
    said = concerns(model, view, found, sure)
    if not said:
        said = ["Nothing in the diagnostics stands out."]
    assumed = (
        "Within a group columns vary independently of each other, and evenly to both sides."
        if view.kind == "group"
        else "Counts vary as Poisson counts do once the topics of a row are known."
    )
    sentences = [
        f"What the model takes for granted: {assumed} Tables are rarely like that, so take the "
        f"{view.kind}s as a summary, not as kinds that exist."
    ]
    return Section("distrust", "What to distrust", sentences, [], said, [])


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
        loader=PackageLoader("halfseen.report", "assets"),
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

    return Markup(files("halfseen.report").joinpath("assets", name).read_text("utf-8"))


def _digest(text: str) -> str:
    """What the page's own policy knows its script and style by; no others run."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
