"""Whether what a model file holds can have been learned: numbers, not only their forms.

What each parameter can be follows from its declaration (:mod:`halfseen.method.learned`).
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from halfseen.method.fit import Fitted
from halfseen.method.learned import Declared, declared
from halfseen.method.scale import ANY, FRACTION, POSITIVE, SHARE
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.gathered import gathered
from halfseen.rows.possible_values import PossibleValues
from halfseen.tables.arrays_and_frames import in_memory

ROUNDING = 1e-6
"""By which shares may miss one."""


class Rule(NamedTuple):
    """What numbers must be, in words, and which of them are."""

    words: str
    holds: Callable[[Any], Any]


LARGEST = 1e150
"""Squares of larger numbers are not finite."""
FINITE = Rule("finite", np.isfinite)
MODERATE = Rule(f"at most {LARGEST:g}", lambda x: np.abs(x) <= LARGEST)
ABOVE = Rule("finite and above 0", lambda x: np.isfinite(x) & (x > 0))
AT_LEAST = Rule("finite and at least 0", lambda x: np.isfinite(x) & (x >= 0))
UNIT = Rule("from 0 to 1", lambda x: (x >= -ROUNDING) & (x <= 1 + ROUNDING))
NUMBER = Rule("a number", lambda x: ~np.isnan(x))


def check_consistent(estimator: Any) -> None:
    """Raise ValueError if a loaded estimator cannot be what a fit gives."""
    estimator.checked()  # parameters within their ranges
    if estimator.n_components_ < 1:
        raise ValueError(f"it has {estimator.n_components_} components")
    if not estimator.kept_features_.any():
        raise ValueError("it uses none of its features")
    _check_shared(estimator)
    axes = estimator._model().axes
    for one in declared(estimator.Parameters):
        _check_declared(estimator, one, axes.get(one.field, one.axes[-1]))
    _check_preprocessing(estimator)
    _check_use(estimator.fitted)


def _check_shared(estimator: Any) -> None:
    """What every model has."""
    kept = estimator.kept_features_
    _check("feature_weights_", estimator.feature_weights_, AT_LEAST)
    _check("observed_fraction_", estimator.observed_fraction_, UNIT)
    _check("value_steps_", estimator.value_steps_, AT_LEAST)
    _check("value_ranges_", estimator.value_ranges_, NUMBER)
    _check("n_iter_", estimator.n_iter_, AT_LEAST)
    if estimator.lower_bound_ is not None:
        _check("lower_bound_", estimator.lower_bound_, FINITE)
    if np.isinf(estimator.constants_).any():
        raise ValueError("'constants_' holds inf, and values are finite")
    if (~kept & np.isnan(estimator.constants_) & (estimator.observed_fraction_ > 0)).any():
        raise ValueError("a feature that it does not use has no constant value")
    low, high = estimator.value_ranges_[:, kept]
    if np.isposinf(low).any() or np.isneginf(high).any() or (low > high).any():
        raise ValueError("'value_ranges_' holds a lowest value above the highest")


def _check_declared(estimator: Any, one: Declared, axes: str) -> None:
    """What the model learned, of the features that it uses."""
    kept, values = estimator.kept_features_, np.asarray(getattr(estimator, one.name))
    sides = {"k": estimator.n_components_, "d": len(kept)}
    shape = tuple(sides[axis] for axis in axes)
    if values.shape != shape:
        raise ValueError(f"'{one.name}' has shape {values.shape}, and its parameters make {shape}")
    values = values[..., kept] if "d" in axes else values
    if one.otherwise is not None and np.isnan(one.otherwise):
        values = values[~np.isnan(values)]  # what only some features have
    for rule in _rules(one):
        _check(one.name, values, rule)
    if one.scale is SHARE and axes == "k" and abs(values.sum() - 1) > ROUNDING:
        raise ValueError(f"'{one.name}' sums to {values.sum():g}, and shares sum to 1")


def _rules(one: Declared) -> Iterator[Rule]:
    yield FINITE
    if one.scale is ANY:
        yield MODERATE
    if one.scale is POSITIVE:
        yield ABOVE
    if one.scale is SHARE or one.scale is FRACTION:
        yield UNIT


def _check(name: str, values: Any, rule: Rule) -> None:
    values = np.asarray(values)
    fits: Mask = np.asarray(rule.holds(values))
    if not fits.all():
        raise ValueError(f"'{name}' holds {values[~fits].flat[0]:g}, and must be {rule.words}")


def _check_use(fitted: Fitted[Any]) -> None:
    """Whether the model says finite things of rows like those that it was learned from.

    What several parameters must have in common only the model knows; a trial shows whether they do.
    """
    model, parameters = fitted.model, fitted.parameters
    rows = in_memory(np.vstack(list(_trials(fitted))))
    with np.errstate(all="ignore"):
        hidden = gathered(rows, lambda block: model.hidden(block, parameters))
        cells = gathered(rows, lambda block: np.hstack(model.cells(block, parameters)))
    if not (np.isfinite(hidden).all() and np.isfinite(cells).all()):
        raise ValueError("what it learned does not fit together: it says of rows what is no number")


def _trials(fitted: Fitted[Any]) -> Iterator[Array]:
    """Rows (n, d) without values, at the ends and in the middle of them, and where parameters are.

    Some cells are gaps; none is other than a fit has seen.
    """
    seen, kept = fitted.possible, fitted.kept
    low, high, step = seen.low[kept], seen.high[kept], seen.step[kept]
    possible = PossibleValues(low, high, step)
    gaps = np.full((1, len(low)), np.nan)
    with np.errstate(all="ignore"):
        ends = np.vstack([low, high, (low + high) / 2])
        yield gaps
        yield possible.nearest(np.where(np.isfinite(ends), ends, np.nan))
        for one in declared(fitted.parameters):
            values = getattr(fitted.parameters, one.field)
            if one.scale is ANY and one.axes[-1].endswith("d"):
                yield possible.nearest(np.atleast_2d(values))


def _check_preprocessing(estimator: Any) -> None:
    done, names = estimator.preprocessing_, getattr(estimator, "feature_names_in_", None)
    if done is None:
        return
    if names is None or done.fitted_names != list(names):
        raise ValueError("its preprocessing is of other columns than it was fitted to")
    _check("preprocessing_", done.centre, FINITE)
    _check("preprocessing_", done.scale, ABOVE)
