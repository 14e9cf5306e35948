"""Section on outcomes by component."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import number, percent
from halfseen.diagnostics.concerns import ConcernContext
from halfseen.report.charts.by_component import Spread, Stack, spreads_chart, stacked_chart
from halfseen.report.charts.drawing import Figure
from halfseen.report.portrait import Portrait, effective_rows
from halfseen.report.section import ReportContext, Section

MOST_CODES = 6
"""Different whole numbers that are shown as categories: more have a mean."""
MOST_LABELS = 12
"""Different words that are categories of an outcome."""
NORMAL = 1.96
"""Standard errors to each side that a 95 % interval spans."""
EVERYBODY = "all rows"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of each row: numbers, or categories with ``labels``."""

    name: str
    values: Array  # (n,)  numbers, or places among the labels; NaN where it is not known
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, given: Any) -> "Outcome":
        """An outcome from one value a row, in any container."""
        values = np.asarray(given.to_numpy() if hasattr(given, "to_numpy") else given)
        if values.ndim != 1:
            raise ValueError(
                f"The outcome {name!r} must hold one value a row. Got an array of shape "
                f"{values.shape} instead."
            )
        listed = values.tolist()
        known = np.array([one is not None and one == one and one != "" for one in listed], bool)
        numbers = _numbers(listed, known)
        if numbers is None:
            return cls._of_labels(name, [str(one) for one in listed], known)
        different = np.unique(numbers[known])
        if len(different) <= MOST_CODES and bool((different == different.round()).all()):
            return cls._of_labels(name, [f"{one:g}" for one in numbers], known, different)
        return cls(name, numbers)

    @classmethod
    def _of_labels(
        cls, name: str, words: list[str], known: Mask, order: Array | None = None
    ) -> "Outcome":
        labels = sorted({word for word, there in zip(words, known, strict=True) if there})
        if order is not None:
            labels = [f"{one:g}" for one in order]
        if len(labels) > MOST_LABELS:
            raise ValueError(
                f"The outcome {name!r} holds {len(labels)} different words, of at most "
                f"{MOST_LABELS}: there is nothing to count or average. Join some of them, or give "
                "a column of numbers."
            )
        place = {label: float(i) for i, label in enumerate(labels)}
        values = [place[w] if there else np.nan for w, there in zip(words, known, strict=True)]
        return cls(name, np.array(values, dtype=float), tuple(labels))


def _numbers(values: list[Any], known: Mask) -> Array | None:
    """Values as numbers (n,), NaN if unknown; None if they are not numbers."""
    try:
        numbers = [float(v) if there else np.nan for v, there in zip(values, known, strict=True)]
    except (TypeError, ValueError):
        return None
    found = np.array(numbers, dtype=float)
    return found if np.isfinite(found[known]).all() else None


def outcomes_of(given: Any) -> tuple[Outcome, ...]:
    """Outcomes by name: of a column, or of values without a name."""
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(Outcome.of(str(name), values) for name, values in given.items())
    return (Outcome.of(str(getattr(given, "name", None) or "outcome"), given),)


class ByComponent(NamedTuple):
    """Averages by component, then over all rows."""

    mean: Array  # (k + 1,)
    spread: Array  # (k + 1,)  standard deviations
    error: Array  # (k + 1,)   standard errors of the means
    n_rows: Array  # (k + 1,)  rows that say something of it, by their share
    few: Mask  # (k + 1,)      what too few rows stand behind


def outcomes_section(page: ReportContext) -> list[Section]:
    """Outcomes by component, if there are any."""
    case, view, outcomes = page.case, page.view, page.outcomes
    if not outcomes:
        return []
    memberships, least = page.row_certainty.memberships, page.least_rows
    _check_not_learned(case, outcomes)
    sentences = [
        f"The {view.nouns} were found without {_listed(outcomes)}. That they differ in an outcome "
        "does not say that they are its cause. After 'between' are the ends of 95% confidence "
        "intervals.",
    ]
    figures = []
    for outcome in outcomes:
        values = _of_sample(case, outcome)
        parts = [_is(values, i) for i in range(len(outcome.labels))] or [values]
        found = [by_component(memberships, part, _clusters(case), least) for part in parts]
        sentences += _told(view, outcome, found)
        figures.append(_figure(view, outcome, found))
    title = f"Outcomes by {view.noun}"
    return [Section("outcomes", title, sentences, figures)]


def _check_not_learned(case: ConcernContext, outcomes: tuple[Outcome, ...]) -> None:
    fitted = case.fitted
    learned = {name for name, used in zip(fitted.own_names, fitted.taken, strict=True) if used}
    for outcome in outcomes:
        if outcome.name in learned:
            raise ValueError(
                f"The model was learned from {outcome.name!r}, so that it is no outcome. Fit again "
                "without that column."
            )


def _is(values: Array, label: int) -> Array:
    """One for rows of a category, zero for others, NaN if unknown."""
    return np.where(np.isnan(values), np.nan, values == label)


def _listed(outcomes: tuple[Outcome, ...]) -> str:
    return " and ".join(one.name for one in outcomes)


def _of_sample(case: ConcernContext, outcome: Outcome) -> Array:
    """Outcomes of the sampled rows."""
    place, n_rows = getattr(case.rows, "place", None), case.rows.accumulate(len)
    n_given = n_rows if place is None else len(place)
    if len(outcome.values) != n_given:
        raise ValueError(
            f"The outcome {outcome.name!r} must hold one value for each of the {n_given} rows. Got "
            f"{len(outcome.values)} instead."
        )
    # Rows may have been put in the order of their sequences since the outcome was given.
    every = np.full(n_rows, np.nan)
    every[slice(None) if place is None else place] = outcome.values
    found: Array = every[case.sample.numbers]
    return found


def _clusters(case: ConcernContext) -> Any:
    """The cluster of each sampled row; (n,)."""
    numbers, sequences = case.sample.numbers, case.sample.rows.sequences
    if sequences is not None:
        return sequences.of(0, len(numbers))
    return np.arange(len(numbers)) if case.bins.labels is None else case.bins.labels[numbers]


def by_component(memberships: Array, values: Array, clusters: Any, least: float) -> ByComponent:
    """Averages of ``values`` (n,) weighted by responsibilities ``memberships`` (n, k).

    Errors are those of whole clusters (n,) of rows, as are those that stand behind an average.
    """
    known = ~np.isnan(values)
    share = np.column_stack([memberships, np.ones(len(values))])[known]
    value, (_, cluster) = values[known, None], np.unique(clusters[known], return_inverse=True)
    total = np.maximum(share.sum(axis=0), 1e-300)
    mean = (share * value).sum(axis=0) / total
    away = share * (value - mean)
    spread = np.sqrt((away * (value - mean)).sum(axis=0) / total)
    n = int(cluster.max(initial=-1)) + 1
    # Rows of one cluster depend on each other, so that errors are summed by cluster first.
    pulls, shares = (np.zeros((n, len(total))) for _ in range(2))
    np.add.at(pulls, cluster, away)
    np.add.at(shares, cluster, share)
    error = np.sqrt(np.square(pulls).sum(axis=0)) / total
    behind = effective_rows(shares, np.ones((n, 1), bool))[:, 0]
    return ByComponent(mean, spread, error, share.sum(axis=0), behind < least)


def _told(view: Portrait, outcome: Outcome, found: list[ByComponent]) -> list[str]:
    """The components with the highest and lowest averages, in words."""
    here = _most_different(outcome, found)
    shown = [i for i in np.argsort(-here.mean[:-1], kind="stable") if not here.few[i]]
    if not shown:
        return [f"{outcome.name}: too few rows stand behind each {view.noun} to say anything."]
    what = f"{outcome.name} is"
    if outcome.labels:
        label = outcome.labels[[one is here for one in found].index(True)]
        what = f"{outcome.name} is {label}"

    def said(i: int) -> str:
        low, high = (here.mean[i] + side * NORMAL * here.error[i] for side in (-1, 1))
        name = f"{view.noun} {i + 1}"
        if outcome.labels:
            low, high = max(low, 0.0), min(high, 1.0)
            return f"{name} ({percent(here.mean[i])}, between {percent(low)} and {percent(high)})"
        return f"{name} ({number(here.mean[i])}, between {number(low)} and {number(high)})"

    most, least = ("most", "least") if outcome.labels else ("highest", "lowest")
    often = " often" if outcome.labels else ""
    of_all = percent(here.mean[-1]) if outcome.labels else number(here.mean[-1])
    known = f"known of {here.n_rows[-1]:,.0f} rows"
    if len(shown) == 1:
        return [f"{what}{often and ' so'} in {said(shown[0])}, and {of_all} of all rows; {known}."]
    return [
        f"{what} {most}{often} in {said(shown[0])} and {least}{often} in {said(shown[-1])}; of all "
        f"rows {of_all}; {known}."
    ]


def _most_different(outcome: Outcome, found: list[ByComponent]) -> ByComponent:
    if len(found) <= 2:
        return found[-1]
    return max(found, key=_range)


def _range(one: ByComponent) -> float:
    shown = one.mean[:-1][~one.few[:-1]]
    return float(np.ptp(shown)) if len(shown) else 0.0


def _figure(view: Portrait, outcome: Outcome, found: list[ByComponent]) -> Figure:
    rows = [*(f"{view.noun} {i + 1}" for i in range(view.k)), EVERYBODY]
    first = found[0]
    counted = [f"{n:,.0f}" for n in first.n_rows]
    if outcome.labels:
        words = [[percent(float(x)) for x in one.mean] for one in found]
        shares = np.array([one.mean for one in found])
        stack = Stack(outcome.name, outcome.labels, shares, words, list(first.few), ordered=False)
        figure = stacked_chart(
            f"{outcome.name} by {view.noun}",
            f"Shares of rows of each {view.noun} whose {outcome.name} is known; rows that may be "
            "of several count for each by how likely that is.",
            [stack],
            rows,
        )
        return _with_counts(figure, counted, first.few)
    spreads = [
        Spread(
            row,
            float(first.mean[i]),
            float(first.spread[i]),
            NORMAL * float(first.error[i]),
            f"{number(first.mean[i])} ± {number(first.spread[i])}, {counted[i]} rows",
            bool(first.few[i]),
        )
        for i, row in enumerate(rows)
    ]
    return spreads_chart(
        f"{outcome.name} by {view.noun}",
        f"Means of {outcome.name} (dots) with their 95% confidence intervals (dark), and one "
        "standard deviation of rows to both sides (pale).",
        spreads,
        outcome.name,
    )


def _with_counts(figure: Figure, counted: list[str], few: Mask) -> Figure:
    """The same, with how many rows there are among its numbers."""
    own = ("rows", *("" if no else n for n, no in zip(counted, few, strict=True)))
    return Figure(
        figure.title, figure.caption, figure.picture, figure.head, (*figure.rows, own), figure.width
    )
