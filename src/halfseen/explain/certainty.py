"""How sure a model is: of the rows, of its averages, and of what it fills in."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfseen.doubt.bootstrap import learned_from
from halfseen.doubt.clusters import bins_for
from halfseen.doubt.hidden_values import HiddenValues, hide_and_fill
from halfseen.doubt.learned_rows import open_again
from halfseen.doubt.replicates import sums_fit
from halfseen.explain.shown import Shown
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError
from halfseen.tables.containers import rows_of

MOST_ROWS = {"group": 20_000, "topic": 1_000}
"""Rows that are looked at: topics of a row take longer to find."""
SURE = 0.9
HIDE = 0.1


@dataclass(frozen=True, eq=False)
class Certainty:
    """How sure a model is, from (some of) the rows."""

    rows: NDArray[np.intp]  # (n_rows,)  which of the table they are
    memberships: Array  # (n_rows, k)  probabilities of groups, or shares of topics, as shown
    doubt: Array  # (n_rows,)  probability of the likeliest group; or relative error of a loading
    low: Array | None  # (k, d)  95 % intervals of what is shown of groups and topics
    high: Array | None
    share_low: Array | None  # (k,)  the same of how common groups are
    share_high: Array | None
    hidden: HiddenValues | None


def certainty(model: Any, view: Shown, X: Any, table: Array, groups: Any) -> Certainty:
    """Look at the rows of X, which is ``table`` (n, d) as an array.

    If there are many, at some drawn by lot. Intervals are from all of them, and only if the model
    was learned from them.
    """
    ends = _intervals(model, view, X, groups)
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
        return Certainty(rows, shares[:, view.order], doubt, *ends, hidden)
    shares = model.predict_proba(given)[:, view.order]
    return Certainty(rows, shares, shares.max(axis=1), *ends, hidden)


def _hidden(model: Any, given: Any, table: Array) -> HiddenValues | None:
    try:
        return hide_and_fill(model, given, table, fraction=HIDE, random_state=0)
    except DataError:  # too few values to hide any
        return None


Ends = tuple[Array | None, Array | None, Array | None, Array | None]


def _intervals(model: Any, view: Shown, X: Any, groups: Any) -> Ends:
    """Ends of 95 % intervals of what is shown, if there can be any."""
    rows, seen = open_again(model, X)
    bins = bins_for(groups, rows)
    by_moments = model.refine is None
    if not learned_from(model, seen) or (view.kind == "topic" and not by_moments):
        return None, None, None, None
    if by_moments and not sums_fit(int(np.count_nonzero(seen.kept)), bins.n):
        return None, None, None, None
    found = model.intervals(X, groups=groups)
    if view.kind == "topic":
        topics = found["components_"]
        return topics.low[view.order], topics.high[view.order], None, None
    means, shares, done = found["means_"], found["weights_"], model.preprocessing_
    low, high = means.low[view.order], means.high[view.order]
    if done is not None:
        low, high = done.undo(low), done.undo(high)
    return low, high, shares.low[view.order], shares.high[view.order]
