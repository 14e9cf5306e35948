"""The columns of a plan, from one place's table: rounded, so that no row shows in them."""

import json
import math
from typing import Any

import numpy as np
from sklearn.base import clone

from halfseen.data.arrays import Array
from halfseen.data.errors import DataError
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.messages import setting
from halfseen.federated.plan import LEAST_ROWS, MOST_VALUES, AgreedColumn
from halfseen.io.coding import Coding, holds_words, takes_kinds
from halfseen.io.open_table import open_table
from halfseen.io.table import Reading
from halfseen.moments.moment_sums import MomentSums

LOCAL_PARAMETERS = ("kinds", "n_jobs", "verbose", "random_state")
"""Parameters that are no part of a plan: columns have their kinds there."""


SAFETY_FACTOR = 5
"""Times as often as has to be: other places may have fewer rows."""


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Those of an estimator that are not as they are by default."""
    usual = type(estimator)().get_params()
    own = {
        name: value
        for name, value in estimator.get_params().items()
        if name not in LOCAL_PARAMETERS and value is not usual[name] and value != usual[name]
    }
    if estimator.n_components == "auto":
        raise ValueError(
            setting(n_components="auto")
            + " goes over the rows again, and a plan is for rows that are not at "
            "hand. Say how many: halfseen.choose_components() on one place's rows tells."
        )
    try:
        json.dumps(own)
    except TypeError as error:
        raise ValueError(f"A plan cannot hold what is no number or text: {error}.") from error
    return {"n_components": int(estimator.n_components), **own}


def draft_columns(X: Any, estimator: Any) -> tuple[AgreedColumn, ...]:
    """The columns of ``X``, as an estimator finds them."""
    rows = open_table(X, Reading.of(estimator)).rows
    kinds, values = _kinds(X, estimator, rows.names)
    sums = rows.accumulate(FeatureSums.of)
    mean = np.nan_to_num(sums.mean)
    counted = [_countable(kinds[n], m) for n, m in zip(rows.names, sums.maximum, strict=True)]
    if not takes_kinds(estimator):
        counted = []
    moments = rows.accumulate(MomentSums.about(mean, triples=False, values=counted))
    squares = moments.second.diagonal()[len(mean) :]
    spread = np.sqrt(squares / np.maximum(sums.count, 1.0))
    for i, own in enumerate(counted):
        if len(own):
            often = moments.levels[sum(map(len, counted[:i])) :][: len(own)]
            values[rows.names[i]] = _common(own, often)
    used = [i for i, name in enumerate(rows.names) if kinds[name] not in ("identifier", "ignored")]
    never = [rows.names[i] for i in used if sums.count[i] == 0]
    if never:
        raise DataError(
            f"Column '{never[0]}' holds nothing here, so that its range and scale cannot be "
            "drafted. Draft the plan where it is measured, or write it by hand."
        )
    return tuple(
        _column(
            rows.names[i],
            kinds[rows.names[i]],
            values.get(rows.names[i], ()),
            *(float(one[i]) for one in (sums.minimum, sums.maximum, mean, spread)),
        )
        for i in used
    )


def _countable(kind: str, highest: float) -> Array:
    """The counts of a column that may each be counted; (l,)."""
    return np.arange(min(highest, MOST_VALUES - 1) + 1) if kind == "count" else np.empty(0)


def _common(counts: Array, often: Array) -> tuple[float, ...]:
    """Counts from zero up to the last before one that is rare: higher ones count as that."""
    rare = np.flatnonzero(often < SAFETY_FACTOR * LEAST_ROWS)
    n = max(int(rare[0]) if len(rare) else len(counts), 2)
    return tuple(map(float, counts[:n]))


def _kinds(
    X: Any, estimator: Any, names: tuple[str, ...]
) -> tuple[dict[str, str], dict[str, tuple[Any, ...]]]:
    """The kinds of columns by name, and the values of categories."""
    if not takes_kinds(estimator):
        return dict.fromkeys(names, "count" if estimator.about.counts else "continuous"), {}
    one = clone(estimator).set_params(n_components=1, refine=None).fit(X)
    coding: Coding = one.coding_
    labels = dict(zip(coding.names, coding.labels, strict=True))
    kinds = {name: "continuous" if kind == "number" else kind for name, kind in one.kinds_.items()}
    values: dict[str, tuple[Any, ...]] = {
        name: labels[name] or tuple(map(float, one.profiles_[name]["probabilities"]))
        for name, kind in kinds.items()
        if holds_words(kind) and (labels[name] or name in one.profiles_)
    }
    return kinds, values


def _column(
    name: str,
    kind: str,
    values: tuple[Any, ...],
    lowest: float,
    highest: float,
    mean: float,
    spread: float,
) -> AgreedColumn:
    if values:
        top = len(values) - 1.0 if isinstance(values[0], str) else max(values)
        bottom = 0.0 if isinstance(values[0], str) else min(values)
        return AgreedColumn(name, kind, bottom, max(top, bottom + 1), bottom, 1.0, values)
    width = highest - lowest or abs(highest) or 1.0
    step = 10.0 ** math.floor(math.log10(width))
    low = math.floor((lowest - width / 2) / step) * step  # others may have what is not here
    low = max(low, 0.0) if lowest >= 0 else low
    high = math.ceil((highest + width / 2) / step) * step
    scale = _rounded(spread if spread > 0 else width)
    origin = round(mean / scale) * scale
    return AgreedColumn(name, kind, low, max(high, low + step), origin, scale)


def _rounded(number: float) -> float:
    """To one digit that is not zero.

    >>> _rounded(0.0374), _rounded(17.2)
    (0.04, 20.0)
    """
    return float(f"{number:.1g}")
