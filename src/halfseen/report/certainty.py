"""How sure a model is: of the rows, of its averages, and of what it fills in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.core.arrays import Array
from halfseen.core.errors import DataError
from halfseen.estimators.containers import rows_of
from halfseen.estimators.hidden_values import HiddenValues, hide_and_fill
from halfseen.report.shown import Shown

MOST_ROWS = {"group": 20_000, "topic": 1_000}
"""Rows that are looked at: topics of a row take longer to find."""
SURE = 0.9
HIDE = 0.1
Z95 = 1.959964


@dataclass(frozen=True, eq=False)
class Certainty:
    """How sure a model is, from (some of) the rows."""

    rows: NDArray[np.intp]  # (n_rows,)  which of the table they are
    memberships: Array  # (n_rows, k)  probabilities of groups, or shares of topics, as shown
    doubt: Array  # (n_rows,)  probability of the likeliest group; or relative error of a loading
    low: Array | None  # (k, d)  95 % intervals of groups' averages, in own units
    high: Array | None
    hidden: HiddenValues | None


def certainty(model: Any, view: Shown, X: Any, table: Array) -> Certainty:
    """Look at the rows of X, which is ``table`` (n, d) as an array.

    If there are many, at some drawn by lot.
    """
    most = MOST_ROWS[view.kind]
    rows = np.arange(len(table))
    if len(table) > most:
        rows = np.sort(np.random.default_rng(0).choice(len(table), most, replace=False))
    given, table = rows_of(X, rows), table[rows]
    hidden = _hidden(model, given, table)
    if view.kind == "topic":
        mean, spread = model.posterior(given)
        largest = mean.argmax(axis=1)[:, None]
        doubt = np.take_along_axis(spread / mean, largest, axis=1)[:, 0]
        shares = mean / mean.sum(axis=1, keepdims=True)
        return Certainty(rows, shares[:, view.order], doubt, None, None, hidden)
    shares = model.predict_proba(given)[:, view.order]
    low, high = _intervals(model, view, table, shares)
    return Certainty(rows, shares, shares.max(axis=1), low, high, hidden)


def _hidden(model: Any, given: Any, table: Array) -> HiddenValues | None:
    try:
        return hide_and_fill(model, given, table, fraction=HIDE, random_state=0)
    except DataError:  # too few values to hide any
        return None


def _intervals(model: Any, view: Shown, table: Array, shares: Array) -> tuple[Array, Array]:
    """What sampling leaves open of the groups' averages, if the groups are right."""
    n_known = shares.T @ ~np.isnan(table)
    variances = np.asarray(model.covariances_, dtype=float)
    if variances.ndim:
        variances = variances[view.order] if variances.ndim == 2 else variances[view.order, None]
    with np.errstate(divide="ignore"):
        error = Z95 * np.sqrt(variances / n_known)
    means, done = model.means_[view.order], model.preprocessing_
    ends = means - error, means + error
    if done is None:
        return ends
    return done.undo(ends[0]), done.undo(ends[1])
