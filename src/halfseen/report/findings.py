"""The chapters on what was found, and from what."""

from collections.abc import Collection

import numpy as np

from halfseen.data.formatting import percent
from halfseen.diagnostics.missingness import Missingness
from halfseen.inference.fit import Fitted
from halfseen.report.charts.bars import MOST as MOST_BARS
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.heat_map import heat_map_chart
from halfseen.report.charts.patterns import patterns_chart
from halfseen.report.missing import what_is_missing
from halfseen.report.portrait import Portrait
from halfseen.report.section import Card, Section
from halfseen.report.shown_intervals import Certainty
from halfseen.report.words import FULL, weights_told


def facts(fitted: Fitted[object], found: Missingness, n_added: int) -> list[str]:
    """The table, what was done to it, and rows that were ``n_added`` for steps between others."""
    gaps = 1 - float(found.observed.mean())
    size = f"The table has {found.n_rows:,} rows and {len(found.names):,} columns"
    return [
        f"{size}; {percent(gaps)} of its cells are empty. Rows and columns with gaps were used as "
        "they are, and no value was made up to fill a gap."
        if gaps
        else f"{size}, and no gaps.",
        *_added(n_added),
        *_left_out(fitted),
        *_preprocessing(fitted),
    ]


def _added(n: int) -> list[str]:
    steps = "1 step" if n == 1 else f"{n:,} steps"
    return [f"{steps} between rows had none, and count as rows of which nothing is known."] * (
        n > 0
    )


def counted(view: Portrait) -> str:
    """How many components there are."""
    return f"{view.k} {view.nouns if view.k > 1 else view.noun}"


def _left_out(fitted: Fitted[object]) -> list[str]:
    """What was said of columns that are not used."""
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


def components(view: Portrait, sure: Certainty, not_shown: list[str]) -> Section:
    """What the components are, and how common: a card for each, and a picture of all."""
    heat = heat_map_chart(view, view.grid(sure.low, sure.high))
    cards = [
        Card(
            f"{view.noun.capitalize()} {i + 1}",
            f"{view.noun}-{i + 1}",
            float(view.shares[i]),
            f"{percent(view.shares[i])} {view.of_what}{_between(sure, i)}",
            told.lines,
        )
        for i, told in enumerate(view.told())
    ]
    title = f"The {view.nouns}" if view.k > 1 else f"The one {view.noun}"
    order = [f"Numbered from the most common {view.noun}."] if view.k > 1 else []
    return Section("components", title, [*order, *not_shown], [heat], cards=cards)


def _between(sure: Certainty, i: int) -> str:
    if sure.share_low is None or sure.share_high is None or len(sure.share_low) == 1:
        return ""
    return f" (between {100 * sure.share_low[i]:.1f}% and {100 * sure.share_high[i]:.1f}%)"


def gaps(found: Missingness, told: Collection[str], *, sequenced: bool = False) -> Section:
    """What was missing, of rows that may follow each other; what is ``told`` is not said again."""
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
    if len(found.names) > MOST_BARS and (found.observed == 1).all():
        figures = []  # a bar a column, and all of them alike
    sentences = list(what_is_missing(found, told, sequenced=sequenced))
    return Section("gaps", "What was missing", sentences, figures)


def weights(fitted: Fitted[object], view: Portrait) -> Section:
    """What counted how much, and why."""
    weights, observed = fitted.feature_weights, fitted.observed_fraction
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
            if fitted.taken[i]
        ],
        ("column", "weight"),
    )
    sentences = [
        "Columns with many gaps are known less well: what is measured of them, and of how they go "
        "along with others, is less certain. So they counted less when the "
        f"{view.nouns} were sought. Once these were found, every known value was used to describe "
        "them.",
    ]
    points = weights_told(view.names, weights, observed)
    figures = [chart] if (weights[fitted.taken] < FULL * top).any() else []
    return Section("weights", "What was weighted, and why", sentences, figures, points)
