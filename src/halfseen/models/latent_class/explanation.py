"""What tells classes apart, and what each is like, in numbers and in words."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array
from halfseen.data.reductions import gathered
from halfseen.data.rows import Block
from halfseen.diagnostics.intervals import N_REPLICATES, Interval, check_level, replicates
from halfseen.distributions.categorical import chances_of
from halfseen.distributions.cell_densities import surprisal
from halfseen.distributions.mixed_parameters import MixedParameters
from halfseen.estimators.prediction_input import new_rows
from halfseen.inference.fit import Fitted
from halfseen.inference.parameters import ANY, whole
from halfseen.io.containers import as_frame, table_like
from halfseen.io.open_table import is_out_of_memory
from halfseen.io.validation import reorder_as_fitted, reorder_like
from halfseen.latent.mixture.mutual_information import of_pairs
from halfseen.report.classes import Classes
from halfseen.report.words import Told, number, percent, some_of

MAX_LISTED = 20
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


def surprisals(estimator: Any, X: Any) -> Any:
    """Of each cell of ``X`` (n, d): data frames come back as such, anything else as an array."""
    fitted = estimator.fitted
    rows = new_rows(estimator, X).select(fitted.kept)
    emission, parameters = fitted.model.emission, fitted.parameters
    found = gathered(rows, lambda block: surprisal(block, emission, parameters))
    values = whole(found, fitted.kept, np.nan)
    if is_out_of_memory(X) or as_frame(X) is None:
        return values
    return reorder_like(X, table_like(reorder_as_fitted(estimator, X), values))


def category_probabilities(model: Any, X: Any) -> dict[str, Array]:
    """For each column of few values, by name: probabilities of its categories; (n, l).

    Cells that are observed have theirs with certainty.
    """
    fitted = model.fitted
    parameters, rows = fitted.parameters, new_rows(model, X).select(fitted.kept)
    hidden = gathered(rows, lambda block: fitted.model.hidden(block, parameters))
    names = np.array(fitted.names, dtype=object)[fitted.kept]
    found = {}
    for d in np.flatnonzero(parameters.of_levels):
        values = parameters.level_values[:, d]
        own = gathered(rows, partial(_observed, d=int(d)))
        known = np.isin(own, values[np.isfinite(values)])
        certain = own == values[np.isfinite(values)]
        found[str(names[d])] = np.where(known, certain, chances_of(parameters, hidden, int(d)))
    return found


def _observed(block: Block, d: int) -> Array:
    """A column of a block, NaN in the gaps; (n, 1)."""
    return np.where(block.observed[:, d], block.values[:, d], np.nan)[:, None]


MAX_PRINTED_PAIRS = 10
ROUNDING_ERROR = 1e-9


@dataclass(frozen=True, eq=False)
class Dependence:
    """Mutual information of every pair of columns, in nats.

    ``np.asarray`` gives the numbers alone, and ``print`` the strongest pairs.

    Attributes
    ----------
    names : tuple of str
        The columns.
    values : ndarray of shape (d, d)
        What knowing one column tells of the other; NaN on the diagonal, and for columns that the
        model does not use.
    """

    names: tuple[str, ...]
    values: Array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        values = self.values if dtype is None else self.values.astype(dtype)
        return values.copy() if copy else values

    def strongest(self, n: int = MAX_PRINTED_PAIRS) -> list[tuple[str, str, float]]:
        """The pairs that tell most of each other, and how many nats."""
        first, second = np.triu_indices(len(self.names), 1)
        nats = np.nan_to_num(self.values[first, second])
        order = [p for p in np.argsort(-nats, kind="stable")[:n] if nats[p] > ROUNDING_ERROR]
        return [(self.names[first[p]], self.names[second[p]], float(nats[p])) for p in order]

    def __str__(self) -> str:
        lines = [f"{nats:.3f} nats  {a} and {b}" for a, b, nats in self.strongest()]
        return "\n".join(lines or ["No column tells anything of another."])


def dependence(fitted: Fitted[MixedParameters]) -> Dependence:
    """Of all columns under a model."""
    lines = whole(of_pairs(fitted.parameters), fitted.kept, np.nan)
    return Dependence(fitted.own_names, whole(lines.T, fitted.kept, np.nan).T)
