"""What tells classes apart, and what each is like, in numbers and in words."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.doubt.intervals import N_REPLICATES, Interval, check_level, replicates
from halfseen.explain.classes import Classes
from halfseen.explain.words import Told, number, percent, some_of
from halfseen.method.scale import ANY
from halfseen.rows.arrays import Array

MOST_SAID = 20
"""Columns that are listed by how much they tell."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What tells classes apart; ``print`` shows it in words.

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
    classes : tuple of Told
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
    classes: tuple[Told, ...]
    order: NDArray[np.intp]

    def __str__(self) -> str:
        return "\n".join([*self._of_columns(), *self._of_classes()])

    def _of_columns(self) -> list[str]:
        if len(self.classes) == 1:
            return ["There is one class, so that no column tells of it."]
        ranked = np.argsort(-np.nan_to_num(self.share, nan=-1.0), kind="stable")
        known = [int(d) for d in ranked if np.isfinite(self.share[d])]
        shown = known[:MOST_SAID]
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


def explained(estimator: Any, X: Any, level: float) -> Explanation:
    """What a fitted model says, and how sure that is if there is a table."""
    check_level(level)
    fitted = estimator.fitted
    view: Classes = fitted.model.portrait(fitted)
    apart = view.apart
    low, high = apart.ends(partial(_interval, estimator, X, level)) or (None, None)
    return Explanation(
        names=view.names,
        information=apart.nats,
        share=apart.shares,
        low=low,
        high=high,
        level=level,
        entropy=apart.entropy,
        tells_nothing=tuple(view.names[d] for d in np.flatnonzero(apart.silent(low))),
        classes=tuple(view.told()),
        order=view.order,
    )
