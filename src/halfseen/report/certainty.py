"""Sections on certainty and caution: intervals, posterior certainty, imputation check."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.formatting import percent
from halfseen.data.resampling import ENOUGH_SEQUENCES
from halfseen.data.sampling import sequence_of
from halfseen.data.sequences import lengths_of
from halfseen.diagnostics.choice import Choice, HeldOut, TriedNumber
from halfseen.diagnostics.concerns import ConcernContext, facts_of
from halfseen.diagnostics.concerns.fit import noise_of_spectrum
from halfseen.diagnostics.held_out_cells import HiddenValues
from halfseen.diagnostics.intervals import (
    N_REPLICATES,
    Interval,
    Replicates,
    learned_from,
    replicates,
    sums_fit,
)
from halfseen.inference.parameters import ANY
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.drawing import Figure
from halfseen.report.charts.histograms import histogram, spectrum_chart
from halfseen.report.portrait import Portrait
from halfseen.report.section import ReportContext, Section

LEVEL = 0.95
"""The probability with which every interval of the page holds the truth."""


@dataclass(frozen=True, eq=False)
class ShownIntervals:
    """Ends of 95 % confidence intervals, or the reason why there are none."""

    low: Array | None = None  # (k, d)
    high: Array | None = None
    share_low: Array | None = None  # (k,)  of how common components are
    share_high: Array | None = None
    none_because: str = ""
    replicates: Replicates[Any] | None = None

    def of(self, follows: Callable[[Any], Array]) -> Interval | None:
        """Intervals of a function of the parameters, if there are any."""
        return None if self.replicates is None else self.replicates.of(follows, ANY, LEVEL)


def shown_intervals(case: ConcernContext, portrait: Portrait) -> ShownIntervals:
    """Intervals from all rows, only if the model was learned from them."""
    why_not = _why_not(case)
    if why_not:
        return ShownIntervals(none_because=why_not)
    again = replicates(case.fitted, case.rows, case.seen, case.bins, N_REPLICATES)
    found = again.of_attributes(LEVEL)
    centres, shares = portrait.learned_as
    low, high = _ends(found, centres, portrait.order)
    if low is None or high is None:
        return ShownIntervals(none_because="Averages are not learned as such.")
    low, high = portrait.in_own_units(low), portrait.in_own_units(high)
    return ShownIntervals(low, high, *_ends(found, shares, portrait.order), replicates=again)


def _ends(
    found: dict[str, Interval], name: str | None, order: Any
) -> tuple[Array | None, Array | None]:
    # What no feature has, as averages of categories, has no intervals either.
    return (found[name].low[order], found[name].high[order]) if name in found else (None, None)


def _why_not(case: ConcernContext) -> str:
    fitted, seen = case.fitted, case.seen
    if fitted.model.abilities.no_intervals:
        return fitted.model.abilities.no_intervals
    if fitted.streamed or not learned_from(fitted, seen):
        return "They need the table that the model was learned from."
    by_moments = fitted.settings.refine is None
    if by_moments and not sums_fit(int(np.count_nonzero(seen.kept)), case.bins.n):
        return "Of so many columns they need a fit that is refined by likelihood."
    return ""


def certainty_section(page: ReportContext) -> list[Section]:
    """The section on certainty of rows, of averages and of fills."""
    case, view, rows = page.case, page.view, page.row_certainty
    sentences, figures = [], []
    if rows.sentence:
        sentences.append(rows.sentence)
        figures.append(histogram(rows.title, rows.caption, rows.axis, rows.values, *rows.span))
    sentences.append(_of_intervals(page))
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
    return [Section("sure", "How sure we are", sentences, figures)]


def _of_numbers(case: ConcernContext) -> HiddenValues | None:
    """Hidden values of numeric columns; None if there are too few."""
    hidden = case.hidden_values
    if hidden is None:
        return None
    numbers = ~case.fitted.nominal[hidden.feature]
    return hidden.only(numbers) if numbers.any() else None


def _of_categories(case: ConcernContext) -> list[str]:
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


def _of_intervals(page: ReportContext) -> str:
    sure, view = page.intervals, page.view
    if sure.none_because:
        return f"There are no confidence intervals on this page. {sure.none_because}"
    return (
        f"The {view.known} come with 95% confidence intervals (point at a cell or bar of a chart "
        f"to see them), from a bootstrap of {_bootstrap_unit(page)}."
    )


def _bootstrap_unit(page: ReportContext) -> str:
    if page.grouped:
        return "whole groups of rows"
    if not page.case.rows.sequenced:
        return "rows, taken to be independent of each other"
    many = len(lengths_of(sequence_of(page.case.rows))) >= ENOUGH_SEQUENCES
    return "whole sequences" if many else "runs of rows, as there are few sequences"


def caution_section(page: ReportContext) -> list[Section]:
    """The section on the model's assumptions."""
    case, said = page.case, facts_of(page.case)
    if not said and not page.concerns:
        said = ["Nothing in the diagnostics stands out."]
    sentences = [
        f"What the model assumes: {case.fitted.model.about.assumes} Tables are rarely "
        f"like that, so take the {page.view.nouns} as a summary, not as kinds that exist."
    ]
    title = "What else to distrust" if page.concerns else "What to distrust"
    return [Section("distrust", title, sentences, points=said)]


def number_chart(choice: Choice, noun: str, nouns: str) -> list[Figure]:
    """A bar for each tried number of components."""

    def bar(k: int, agreement: float | None, words: str, tick: float | None = None) -> Bar:
        shown = "" if agreement is None else f"{agreement:.2f}"
        return Bar(f"{k} {nouns if k > 1 else noun}", agreement or 0.0, shown, words, tick)

    if choice.tried:
        bars = [
            bar(one.n_components, one.stability, _row_told(one, choice)) for one in choice.tried
        ]
        caption = (
            f"How far fits to halves of the rows give rows the same {nouns}: 1 is the same, 0 is "
            "chance. That does not decide: any cut of a single cloud is found again. The table has "
            "the likelihood of held-out rows and the information criteria (of AIC, BIC and ICL, "
            "the lowest is best)."
        )
    else:
        bars = [
            bar(
                step.n_components,
                step.agreement,
                _told_of_number(step, noun if step.n_components == 1 else nouns),
                step.enough_agreement,
            )
            for step in choice.held_out
            if step.agreement is not None
        ]
        caption = (
            "How far halves of the rows, fitted apart, give rows the same "
            f"{nouns}: 1 is the same, 0 is chance. The tick is the least that is accepted; a "
            "number must also make held-out rows more likely and leave no component with too few "
            "rows."
        )
    return [bar_chart(f"How many {nouns}", caption, bars, (nouns, "how it fared"))] if bars else []


def _row_told(one: TriedNumber, choice: Choice) -> str:
    parts = [
        f"log-likelihood {one.log_likelihood:,.1f} with {one.n_parameters} parameters",
        f"AIC {one.aic:,.0f}, BIC {one.bic:,.0f}, ICL {one.icl:,.0f}",
        f"entropy {one.entropy:.2f} a row",
    ]
    if one.held_out is not None and one.held_out_error is not None:
        parts.append(f"held-out rows {one.held_out:.3f} ± {one.held_out_error:.3f} each")
    parts.append(f"the smallest holds {percent(one.smallest)} of rows")
    if one.stability is not None:
        parts.append(f"stability {one.stability:.2f}")
    if one.n_components in (choice.n_components, choice.runner_up):
        parts.append("chosen" if one.n_components == choice.n_components else "runner-up")
    return "; ".join(parts)


def _told_of_number(step: HeldOut, what: str) -> str:
    said = f"{step.n_components} {what}: agreement {step.agreement:.2f}"
    if step.over is not None and step.over != step.n_components:
        likely = "more" if step.gain > 0 else "less"
        said += (
            f"; held-out rows {likely} likely than under {step.over}, by {abs(step.gain):.3g} ± "
            f"{step.error:.2g} a row"
        )
    if step.smallest is not None:
        said += f"; the smallest holds {percent(step.smallest)} of rows"
    if step.accepted:
        return f"{said}; accepted"
    return f"{said}; refused: {step.refused}" if step.refused else f"{said}; not chosen"
