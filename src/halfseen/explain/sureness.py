"""The chapters on how sure we are, and on what to distrust."""

from typing import Any

import numpy as np

from halfseen.doubt.missingness import Missingness
from halfseen.explain.certainty import SURE, Certainty
from halfseen.explain.charts.bars import Bar, bar_chart
from halfseen.explain.charts.drawing import Figure
from halfseen.explain.charts.plane import histogram, spectrum_chart
from halfseen.explain.distrust import distrust
from halfseen.explain.section import Section
from halfseen.explain.shown import Shown
from halfseen.explain.words import percent


def sureness(
    model: Any, view: Shown, sure: Certainty, noise: float | None, grouped: bool
) -> Section:
    """How sure the model is of rows, of averages and of what it fills in."""
    sentences, figures = _of_rows(view, sure)
    sentences.append(_of_intervals(view, sure, grouped))
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
    figures.append(spectrum_chart(seen.spectrum, seen.n_kept_eigenvalues, noise))
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
    if view.k == 1:
        return [], []
    sentences = [
        f"{percent(float((sure.doubt >= SURE).mean()))} of rows belong to one group with a "
        f"probability of at least {SURE:.0%}; the mean is {sure.doubt.mean():.0%}.",
    ]
    chart = histogram(
        "How sure we are of each row's group",
        f"Rows by the probability of their likeliest group ({len(sure.rows):,} rows).",
        "probability of the likeliest group",
        sure.doubt,
        1 / view.k,
        1.0,
    )
    return sentences, [chart]


def _of_intervals(view: Shown, sure: Certainty, grouped: bool) -> str:
    if sure.low is None:
        return (
            "There are no confidence intervals on this page: they need the table that the model "
            "was learned from, and topics without stochastic polish of not too many columns."
        )
    what = "averages and shares of groups" if view.kind == "group" else "shares of columns"
    unit = "whole groups of rows" if grouped else "rows, taken to be independent of each other"
    return (
        f"The {what} come with 95% confidence intervals (point at a cell or bar of a chart to see "
        f"them), from a bootstrap of {unit}."
    )


def caution(
    model: Any, view: Shown, found: Missingness, sure: Certainty, concerns: list[str]
) -> Section:
    """What the model takes for granted, and what speaks against it."""
    said = distrust(model, view, found, sure, concerns)
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
