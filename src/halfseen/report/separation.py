"""Section on which columns tell components apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.formatting import number, percent, some_of
from halfseen.diagnostics.intervals import N_REPLICATES, Interval, check_level, replicates
from halfseen.inference.parameters import ANY
from halfseen.report.categories import Categories
from halfseen.report.charts.bars import Bar, bar_chart
from halfseen.report.charts.by_component import (
    MOST_COLOURS,
    Stack,
    Strip,
    stacked_chart,
    strips_chart,
)
from halfseen.report.charts.drawing import Figure
from halfseen.report.portrait import Description, IntervalOf, Portrait
from halfseen.report.section import Section

MIN_SHARE = 0.005
"""Of the entropy of the component: columns that tell less are said to tell nothing."""
MOST_STRIPS = 8
"""Columns that are drawn, of categories and of numbers."""
N_INTERVALS = 60
"""By which the numbers of a column are drawn, or nearly as many."""
Written = Callable[[float, int], str]
"""A number of a column in words."""


class Density(NamedTuple):
    """The distribution of a numeric column in each component."""

    column: int
    low: Array  # (k,)  where the bulk of them begins
    high: Array  # (k,)
    below: Callable[[Array], Array]  # how much of each component is below points (m,); (m, k)
    own: Callable[[float], float]  # from numbers as they were fitted to their own units
    counts: bool = False
    spike: float = np.nan  # a value that many cells hold exactly, if there is one
    at_spike: Array | None = None  # (k,)
    floor: float = -np.inf  # below which there are none
    ceiling: float = np.inf  # above which there are none

    def edges(self, shown: Mask) -> Array:
        """Edges of equal intervals over the bulk of the components ``shown`` (k,)."""
        some = shown if shown.any() else ~shown
        low, high = float(self.low[some].min()), float(self.high[some].max())
        if self.counts:
            step = np.ceil((high + 1) / N_INTERVALS)
            return np.arange(-0.5, high + step, step)
        if self.at_spike is not None:
            low, high = min(low, self.spike), max(high, self.spike)
        return np.linspace(max(low, self.floor), min(high, self.ceiling), N_INTERVALS + 1)


@dataclass(frozen=True, eq=False)
class Separation:
    """Mutual information of columns with the component."""

    nats: Array  # (d,)  NaN for columns that are not used
    entropy: float  # nats that there are to tell
    again: Callable[[Any], Array]  # nats by other parameters of the model

    @classmethod
    def unknown(cls, n_columns: int) -> "Separation":
        """Unknown separation, for components without densities."""
        nothing = np.full(n_columns, np.nan)
        return cls(nothing, 0.0, lambda other: nothing)

    @property
    def known(self) -> bool:
        return bool(np.isfinite(self.nats).any())

    @property
    def shares(self) -> Array:
        """Shares of the entropy of components; (d,)."""
        return self.nats / self.entropy if self.entropy > 0 else 0.0 * self.nats

    def silent(self, low: Array | None) -> Mask:
        """Columns with little or no information, given lower bounds ``low`` (d,) if known."""
        with np.errstate(invalid="ignore"):
            little: Mask = self.shares < MIN_SHARE
            return little if low is None else little | (low <= 0)

    def ends(self, sure: IntervalOf) -> tuple[Array, Array] | None:
        """Ends of intervals of nats (d,), within their possible range."""
        found = sure(self.again)
        if found is None:
            return None
        return np.clip(found.low, 0.0, self.entropy), np.clip(found.high, 0.0, self.entropy)


def separation_section(
    view: Portrait,
    separation: Separation,
    categories: Sequence[Categories],
    densities: Sequence[Density],
    sure: IntervalOf,
    written: Written,
) -> Section:
    """The section on informative and uninformative columns."""
    ends = separation.ends(sure)
    low = None if ends is None else ends[0]
    silent = separation.silent(low)
    sentences = [
        f"Each column alone tells a share of what there is to know of a row's {view.noun} "
        f"({number(separation.entropy)} nats). As columns repeat each other, the shares may well "
        "sum to more than 100%.",
    ]
    little = separation.silent(None)
    quiet = [view.names[d] for d in np.flatnonzero(little)]
    unsure = [view.names[d] for d in np.flatnonzero(silent & ~little)]
    if quiet:
        verb = "tells" if len(quiet) == 1 else "tell"
        sentences.append(
            f"As far as the table can say, {some_of(quiet)} {verb} nothing of the {view.noun}."
        )
    if unsure:
        they = "it tells is" if len(unsure) == 1 else "they tell is"
        sentences.append(
            f"{some_of(unsure)} may tell nothing of it: what {they} not surely more than none."
        )
    rank = np.argsort(-np.nan_to_num(separation.nats), kind="stable").tolist()
    figures = [
        _bars(view, separation, ends, rank),
        *_stacks(view, categories, rank, silent),
        *_strips(view, densities, rank, silent, written),
    ]
    return Section("apart", f"What tells the {view.nouns} apart", sentences, figures)


def _bars(
    view: Portrait, separation: Separation, ends: tuple[Array, Array] | None, rank: Sequence[int]
) -> Figure:
    def tip(d: int) -> str:
        between = ""
        if ends is not None:
            low, high = ends[0][d] / separation.entropy, ends[1][d] / separation.entropy
            between = f" (between {percent(low)} and {percent(high)})"
        return (
            f"{view.names[d]}: {percent(separation.shares[d])} of what there is to know{between}, "
            f"{number(separation.nats[d])} nats"
        )

    return bar_chart(
        "How much each column tells",
        f"Share of what there is to know of a row's {view.noun} that the column tells if nothing "
        "else is known (mutual information).",
        [
            Bar(view.names[d], float(separation.shares[d]), percent(separation.shares[d]), tip(d))
            for d in rank
            if np.isfinite(separation.nats[d])
        ],
        ("column", "tells"),
    )


def _stacks(
    view: Portrait, categories: Sequence[Categories], rank: Sequence[int], silent: Mask
) -> list[Figure]:
    shown = [part for part in categories if len(part.labels) > 1]
    shown = [part for part in shown if part.differs or not part.of_gaps]
    some = _most_telling(shown, rank, silent)
    if not some:
        return []
    chart = stacked_chart(
        f"Values in each {view.noun}",
        f"How common values are in each {view.noun} and in all rows, for the columns that tell "
        "most.",
        [_stack(part.few(MOST_COLOURS), view.noun) for part in some],
        [*(f"{view.noun} {i + 1}" for i in range(view.k)), "all rows"],
    )
    return [chart]


def _stack(part: Categories, noun: str) -> Stack:
    rows = range(len(part.weights) + 1)
    return Stack(
        f"{part.name}, whether known" if part.of_gaps else part.name,
        part.labels,
        part.drawn,
        [[part.told(label, i) for i in rows] for label in range(len(part.labels))],
        [*part.withheld, bool(part.withheld.all())],
        part.ordered,
    )


def _strips(
    view: Portrait,
    densities: Sequence[Density],
    rank: Sequence[int],
    silent: Mask,
    written: Written,
) -> list[Figure]:
    some = _most_telling(densities, rank, silent)
    if not some:
        return []
    chart = strips_chart(
        f"Numbers in each {view.noun}",
        f"Where numbers lie in each {view.noun}, by the model, for the columns that tell most."
        + any(one.at_spike is not None for one in some)
        * " Orange bars are single values that many rows hold exactly.",
        [_strip(view, one, written) for one in some],
        [f"{view.noun} {i + 1}" for i in range(view.k)],
    )
    return [chart]


def _strip(view: Portrait, density: Density, written: Written) -> Strip:
    d, withheld = density.column, view.withheld[:, density.column]
    edges, spike = density.edges(~withheld), None
    low, high = float(edges[0]), float(edges[-1])
    if density.at_spike is not None:
        place = (density.spike - low) / (high - low)
        spike = written(density.own(density.spike), d), place, density.at_spike
    ends = written(density.own(low), d), written(density.own(high), d)
    if density.counts:
        ends = f"{int(np.ceil(low)):,}", f"{int(np.floor(high)):,}"
    return Strip(
        view.names[d],
        ends,
        np.diff(density.below(edges), axis=0).T,
        spike,
        density.counts,
        [f"average {written(view.centres[i, d], d)}" for i in range(view.k)],
        list(withheld),
    )


S = TypeVar("S", Categories, Density)


def _most_telling(parts: Sequence[S], rank: Sequence[int], silent: Mask) -> list[S]:
    telling = [part for part in parts if not silent[part.column]]
    return sorted(telling, key=lambda part: rank.index(part.column))[:MOST_STRIPS]


MAX_LISTED = 20
"""Columns that are listed by how much they tell."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What tells classes apart; ``print`` shows it as text.

    Attributes
    ----------
    names : tuple of str
        The columns.
    information : ndarray of shape (d,)
        Nats that each column alone tells of a row's class: their mutual information. NaN for
        columns that the model does not use.
    share : ndarray of shape (d,)
        The same as a share of ``entropy``.
    low, high : ndarray of shape (d,) or None
        Ends of the confidence intervals of ``information``; None without a table.
    level : float
        The probability that an interval holds the truth.
    entropy : float
        Nats that there are to know of a row's class if nothing of the row is known.
    tells_nothing : tuple of str
        Columns that tell less than half a percent of that, or maybe nothing at all.
    classes : tuple of Description
        For each class, the most common first, a title and lines of what stands out.
    order : ndarray of shape (k,)
        Which component of ``predict`` each of those is.
    """

    names: tuple[str, ...]
    information: Array
    share: Array
    low: Array | None
    high: Array | None
    level: float
    entropy: float
    tells_nothing: tuple[str, ...]
    classes: tuple[Description, ...]
    order: NDArray[np.intp]

    def __str__(self) -> str:
        return "\n".join([*self._of_columns(), *self._of_classes()])

    def _of_columns(self) -> list[str]:
        if len(self.classes) == 1:
            return ["There is one class, so that no column tells of it."]
        ranked = np.argsort(-np.nan_to_num(self.share, nan=-1.0), kind="stable")
        known = [int(d) for d in ranked if np.isfinite(self.share[d])]
        shown = known[:MAX_LISTED]
        wide = max((len(self.names[d]) for d in shown), default=0)
        lines = [f"How much each column tells of the class ({number(self.entropy)} nats):"]
        lines += [f"  {self.names[d]:<{wide}}  {self._said(d)}" for d in shown]
        if len(known) > len(shown):
            lines.append(f"  and {len(known) - len(shown)} more that tell less")
        if self.tells_nothing:
            lines.append(f"Telling nothing: {some_of(list(self.tells_nothing))}.")
        return lines

    def _said(self, d: int) -> str:
        said = percent(float(self.share[d]))
        if self.low is None or self.high is None:
            return said
        low, high = (percent(float(end[d] / self.entropy)) for end in (self.low, self.high))
        return f"{said} (between {low} and {high})"

    def _of_classes(self) -> list[str]:
        lines = []
        for told in self.classes:
            lines += ["", told.title, *(f"  - {line}" for line in told.lines)]
        return lines


def _interval(
    estimator: Any, X: Any, level: float, follows: Callable[[Any], Array]
) -> Interval | None:
    """Of what follows from parameters, if there is a table."""
    if X is None:
        return None
    fitted = estimator.fitted
    if fitted.model.abilities.no_intervals:
        raise ValueError(fitted.model.abilities.no_intervals)
    case = estimator.case(X)
    again = replicates(fitted, case.rows, case.seen, case.bins, N_REPLICATES)
    return again.of(follows, ANY, level)


def explained(view: Any, estimator: Any, X: Any, level: float) -> Explanation:
    """What tells classes apart, with intervals if there is a table."""
    check_level(level)
    separation = view.separation
    low, high = separation.ends(partial(_interval, estimator, X, level)) or (None, None)
    return Explanation(
        names=view.names,
        information=separation.nats,
        share=separation.shares,
        low=low,
        high=high,
        level=level,
        entropy=separation.entropy,
        tells_nothing=tuple(view.names[d] for d in np.flatnonzero(separation.silent(low))),
        classes=tuple(view.descriptions()),
        order=view.order,
    )
