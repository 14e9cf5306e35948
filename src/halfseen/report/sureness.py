"""The chapters on how sure we are, and on what to distrust."""

from collections.abc import Sequence

import numpy as np

from halfseen.data.formatting import percent
from halfseen.data.resampling import ENOUGH_SEQUENCES
from halfseen.data.sampling import sequence_of
from halfseen.data.sequences import lengths_of
from halfseen.diagnostics.concerns import Concern, ConcernContext, facts_of
from halfseen.diagnostics.concerns.number_of_components import noise_of_spectrum
from halfseen.diagnostics.held_out_cells import HiddenValues
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.number import number_chart
from halfseen.report.charts.plane import histogram, spectrum_chart
from halfseen.report.portrait import Doubts, Portrait
from halfseen.report.section import Section
from halfseen.report.shown_intervals import Certainty


def sureness(
    case: ConcernContext, view: Portrait, doubts: Doubts, sure: Certainty, grouped: bool
) -> Section:
    """How sure the model is of rows, of averages and of what it fills in."""
    sentences, figures = [], []
    if doubts.sentence:
        sentences.append(doubts.sentence)
        figures.append(
            histogram(doubts.title, doubts.caption, doubts.axis, doubts.values, *doubts.span)
        )
    sentences.append(_of_intervals(view, sure, _drawn(case, grouped)))
    choice = case.fitted.diagnostics.choice
    if choice is not None:
        sentences.append(f"How many {view.nouns} there are was chosen. {choice.reason}")
        figures += number_chart(choice, view.noun, view.nouns)
    told = case.fitted.diagnostics
    sentences += filter(None, (told.covariance_reason, told.refine_told))
    hidden = _of_numbers(case)
    if hidden is not None:
        sentences.append(
            f"{len(hidden.true):,} known values were hidden from the model and filled in again. It "
            f"explains {_explained(hidden.explained())} of their variance, and "
            f"{percent(hidden.within)} of them lie within two of its standard deviations "
            f"({percent(hidden.expected_within)} should)."
        )
        parts = [(int(i), hidden.explained(hidden.feature == i)) for i in np.unique(hidden.feature)]
        parts.sort(key=lambda part: -part[1])
        figures.append(
            bar_chart(
                "How well gaps are filled",
                "Share of the variance of hidden values that the model explains; 0 is no better "
                "than the average. Columns that are missing together were hidden together.",
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
    sentences += _of_categories(case)
    seen, noise = case.fitted.diagnostics, noise_of_spectrum(case)
    if len(seen.spectrum):  # one topic has none
        figures.append(spectrum_chart(seen.spectrum, seen.n_kept_eigenvalues, noise))
    return Section("sure", "How sure we are", sentences, figures)


def _of_numbers(case: ConcernContext) -> HiddenValues | None:
    """Hidden values that vary about an average; None if there are too few."""
    hidden = case.hidden_values
    if hidden is None:
        return None
    numbers = ~case.fitted.nominal[hidden.feature]
    return hidden.only(numbers) if numbers.any() else None


def _of_categories(case: ConcernContext) -> list[str]:
    """How many hidden categories are filled in rightly, if there are any."""
    hidden = case.hidden_values
    if hidden is None or not case.fitted.nominal[hidden.feature].any():
        return []
    words = hidden.only(case.fitted.nominal[hidden.feature])
    return [
        f"{len(words.true):,} known categories were hidden from the model and filled in again: "
        f"{percent(float(words.right.mean()))} of them rightly. The commonest category of each "
        f"column would be right for {percent(float(words.usual.mean()))}."
    ]


def _explained(share: float) -> str:
    return "none" if share <= 0.005 else percent(share)


def _drawn(case: ConcernContext, grouped: bool) -> str:
    """What a bootstrap draws."""
    if grouped:
        return "whole groups of rows"
    if not case.rows.sequenced:
        return "rows, taken to be independent of each other"
    many = len(lengths_of(sequence_of(case.rows))) >= ENOUGH_SEQUENCES
    return "whole sequences" if many else "runs of rows, as there are few sequences"


def _of_intervals(view: Portrait, sure: Certainty, unit: str) -> str:
    if sure.none_because:
        return f"There are no confidence intervals on this page. {sure.none_because}"
    return (
        f"The {view.known} come with 95% confidence intervals (point at a cell or bar of a chart "
        f"to see them), from a bootstrap of {unit}."
    )


def caution(case: ConcernContext, view: Portrait, concerns: Sequence[Concern]) -> Section:
    """What the model takes for granted, beside the concerns, which stand where they matter."""
    said = facts_of(case)
    if not said and not concerns:
        said = ["Nothing in the diagnostics stands out."]
    sentences = [
        f"What the model takes for granted: {case.fitted.model.about.assumes} Tables are rarely "
        f"like that, so take the {view.nouns} as a summary, not as kinds that exist."
    ]
    title = "What else to distrust" if concerns else "What to distrust"
    return Section("distrust", title, sentences, points=said)
