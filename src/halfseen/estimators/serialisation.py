"""What a model file holds: parameters and learned attributes."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.feature_sums import PossibleValues
from halfseen.data.rows import Block, gathered
from halfseen.diagnostics.choice import Choice, HeldOut, RankTest, TriedNumber
from halfseen.inference.fit import Diagnostics, Fitted
from halfseen.inference.parameters import (
    ANY,
    CLIPPED,
    DEFINITE,
    FRACTION,
    POSITIVE,
    SHARE,
    Declared,
    declared,
    forms,
    of_kept,
)
from halfseen.io.coding import Coding
from halfseen.io.preprocessing import Preprocessing
from halfseen.io.studies import KeptTables
from halfseen.io.text import Text
from halfseen.io.validation import feature_names, memory_rows
from halfseen.persistence import model_file
from halfseen.persistence.model_file import EstimatorKind, Forms, Later

RECORDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Choice,
        Coding,
        Diagnostics,
        HeldOut,
        KeptTables,
        Preprocessing,
        RankTest,
        Text,
        TriedNumber,
    )
}
"""Types of values with named fields. Fields added to them later need no change here."""

SHARED: Forms = {
    "feature_weights_": ("float64[d]",),
    "observed_fraction_": ("float64[d]",),
    "complete_features_": ("bool[d]",),
    "kept_features_": ("bool[d]",),
    "constants_": ("float64[d]",),
    "value_ranges_": ("float64[2,d]",),
    "value_steps_": ("float64[d]",),
    "value_limits_": ("float64[2,d]",),
    "n_components_": ("int",),
    "diagnostics_": ("Diagnostics",),
    "preprocessing_": ("Preprocessing", "NoneType"),
    "text_": ("Text", "NoneType"),
    "tables_": ("KeptTables", "NoneType"),
    "n_iter_": ("int",),
    "converged_": ("bool",),
    "lower_bound_": ("float", "NoneType"),
}
"""What every estimator learns, and the forms that may have: k components, d features."""

CODED: Forms = {"coding_": ("Coding",)}
"""What estimators learn beside, whose columns may be of words."""

LATER: Later = {
    "value_ranges_": lambda learned: _anything(len(learned["kept_features_"])),
    "value_steps_": lambda learned: np.zeros(len(learned["kept_features_"])),
    "value_limits_": lambda learned: _limits(learned),
    "preprocessing_": lambda learned: None,
    "text_": lambda learned: None,
    "tables_": lambda learned: None,
    "converged_": lambda learned: True,
    "lower_bound_": lambda learned: None,
}
"""Attributes that came after the first files, from those that are there."""


def _anything(n_features: int) -> Array:
    """Ranges without ends."""
    return np.outer([-np.inf, np.inf], np.ones(n_features))


def _limits(learned: Mapping[str, Any]) -> Array:
    """Limits that follow from ranges and steps of features."""
    if not {"value_ranges_", "value_steps_"} <= learned.keys():
        return _anything(len(learned["kept_features_"]))
    low, high = learned["value_ranges_"]
    two_valued = (learned["value_steps_"] > 0) & (learned["value_steps_"] == high - low)
    floor = np.where(two_valued, low, np.where(low >= 0, 0.0, -np.inf))
    return np.array([floor, np.where(two_valued, high, np.where(high <= 0, 0.0, np.inf))])


def kind_of(estimator: Any) -> EstimatorKind:
    """The file format of a class of estimators."""

    def make(parameters: dict[str, Any]) -> Any:
        made = estimator(**parameters)
        made.columns_by_name_ = True  # of tables that may be of another day, in another order
        return made

    return EstimatorKind(
        name=estimator.__name__,
        make=make,
        check=check_consistent,
        forms=_forms,
        sizes={"k": "n_components_"},
        records=RECORDS,
        later={**LATER, **estimator.later},
    )


def _forms(estimator: Any, learned: Mapping[str, Any]) -> Forms:
    """The types of all learned attributes, given what the fit decided."""
    coded = CODED if estimator.takes_kinds else {}
    return {**SHARED, **coded, **estimator.decided, **forms(estimator.learns(learned))}


def save(estimator: Any, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Write a fitted estimator to one file."""
    kind = type(estimator)
    if "about" not in vars(kind):
        raise TypeError(
            f"{kind.__name__} is not an estimator of halfseen. Save the one it is made from."
        )
    model_file.save(estimator, path, kind_of(kind), overwrite=overwrite)


N_DRAWN = 8
"""Rows that are drawn to see whether they are numbers."""
ROUNDING = 1e-6
"""By which shares may miss one."""


class Rule(NamedTuple):
    """A condition on stored numbers, in words."""

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
    """Raise ValueError if a loaded estimator is inconsistent."""
    estimator.checked()  # parameters within their ranges
    if estimator.n_components_ < 1:
        raise ValueError(f"it has {estimator.n_components_} components")
    if not estimator.kept_features_.any():
        raise ValueError("it uses none of its features")
    _check_shared(estimator)
    axes = estimator._model().axes
    learns = estimator.learns(vars(estimator))
    for one in declared(learns):
        _check_declared(estimator, one, axes.get(one.field, one.axes[-1]))
    for one in declared(learns):
        _check_beside(estimator, one, {other.field: other.name for other in declared(learns)})
    _check_preprocessing(estimator)
    _check_coding(estimator)
    _check_use(estimator.fitted)


def _check_shared(estimator: Any) -> None:
    """Check attributes that every model has."""
    kept = estimator.kept_features_
    _check("feature_weights_", estimator.feature_weights_, AT_LEAST)
    _check("observed_fraction_", estimator.observed_fraction_, UNIT)
    _check("value_steps_", estimator.value_steps_, AT_LEAST)
    _check("value_ranges_", estimator.value_ranges_, NUMBER)
    _check("value_limits_", estimator.value_limits_, NUMBER)
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
    floor, ceiling = estimator.value_limits_[:, kept]
    if (floor > low).any() or (ceiling < high).any():
        raise ValueError("'value_limits_' leaves out values of 'value_ranges_'")


def _check_declared(estimator: Any, one: Declared, axes: str) -> None:
    """Check the declared parameters."""
    kept, values = estimator.kept_features_, np.asarray(getattr(estimator, one.name))
    sides = {**dict.fromkeys("kj", estimator.n_components_), **dict.fromkeys("de", len(kept))}
    sides |= {"l": len(values), "q": values.shape[-1]} if values.ndim else {"l": 0, "q": 0}
    shape = tuple(sides[axis] for axis in axes)
    if values.shape != shape:
        raise ValueError(f"'{one.name}' has shape {values.shape}, and its parameters make {shape}")
    values = of_kept(values, axes, kept)
    if one.scale is FRACTION and axes.startswith("l"):
        total = np.nansum(values, axis=0)[np.isfinite(values).any(axis=0)]
        if (np.abs(total - 1) > ROUNDING).any():
            raise ValueError(f"'{one.name}' holds shares that do not sum to 1")
    if one.otherwise is not None and np.isnan(one.otherwise):
        values = values[~np.isnan(values)]  # what only some features have
    for rule in _rules(one):
        _check(one.name, values, rule)
    if one.scale is DEFINITE:
        _check_definite(one.name, values)
    if one.scale is SHARE and axes in ("k", "kj"):
        for total in np.atleast_1d(values.sum(axis=-1)):
            if abs(total - 1) > ROUNDING:
                raise ValueError(f"'{one.name}' sums to {total:g}, and shares sum to 1")


def _check_beside(estimator: Any, one: Declared, names: Mapping[str, str]) -> None:
    """Check attributes that only some features have."""
    if one.beside is None:
        return
    known, needed = (
        ~np.isnan(np.asarray(getattr(estimator, name))[..., estimator.kept_features_])
        for name in (one.name, names[one.beside])
    )
    if (known & ~needed).any():
        raise ValueError(
            f"what it learned does not fit together: '{one.name}' is known of a feature of which "
            f"'{names[one.beside]}' is not"
        )


def _check_definite(name: str, values: Array) -> None:
    """Check that covariances are symmetric and positive definite."""
    scale = np.abs(values).max(initial=0.0)
    if np.abs(values - values.swapaxes(-1, -2)).max(initial=0.0) > ROUNDING * scale:
        raise ValueError(f"'{name}' holds a covariance that is not symmetric")
    try:
        np.linalg.cholesky(values)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"'{name}' holds a covariance that is not positive definite") from error


def _rules(one: Declared) -> Iterator[Rule]:
    yield FINITE
    if one.scale is ANY or one.scale is DEFINITE:
        yield MODERATE
    if one.scale is POSITIVE:
        yield ABOVE
    if one.scale in (SHARE, FRACTION, CLIPPED):
        yield UNIT


def _check(name: str, values: Any, rule: Rule) -> None:
    values = np.asarray(values)
    fits: Mask = np.asarray(rule.holds(values))
    if not fits.all():
        raise ValueError(f"'{name}' holds {values[~fits].flat[0]:g}, and must be {rule.words}")


def _check_use(fitted: Fitted[Any]) -> None:
    """Check that predictions for typical rows are finite.

    What several parameters must have in common only the model knows; a trial shows whether they do.
    """
    try:
        with np.errstate(all="ignore"):
            finite = all(np.isfinite(said).all() for said in _said(fitted))
    except (ValueError, LookupError, ArithmeticError, np.linalg.LinAlgError) as error:
        raise ValueError(f"what it learned does not fit together: {error}") from error
    if not finite:
        raise ValueError("what it learned does not fit together: it says of rows what is no number")


def _said(fitted: Fitted[Any]) -> Iterator[Array]:
    """Predictions for rows, and rows drawn from the model."""
    model, parameters = fitted.model, fitted.parameters
    rows = memory_rows(np.vstack(list(_trials(fitted))))
    for verb in (model.expected_latent, model.unusual, model.cells, model.fills):
        yield gathered(rows, _flat(verb, parameters))
    yield np.asarray(model.draw(parameters, N_DRAWN, np.random.RandomState(0))[0])


def _flat(verb: Callable[[Block, Any], Any], parameters: Any) -> Callable[[Block], Array]:
    """Predictions as one array; (n, m)."""

    def said(block: Block) -> Array:
        found = verb(block, parameters)
        return np.hstack(found) if isinstance(found, tuple) else np.asarray(found)

    return said


def _trials(fitted: Fitted[Any]) -> Iterator[Array]:
    """Test rows (n, d): empty, at the ends and middle of ranges, and at the parameters.

    Some cells are gaps; none is other than a fit has seen.
    """
    seen, kept = fitted.possible, fitted.kept
    low, high, step = seen.low[kept], seen.high[kept], seen.step[kept]
    possible = PossibleValues(low, high, step, low, high)
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


def _check_coding(estimator: Any) -> None:
    """Check that columns of words have codes."""
    coding = getattr(estimator, "coding_", None)
    if coding is None:
        return
    if coding.names != feature_names(estimator):
        raise ValueError("its coding is of other columns than it was fitted to")
    if (estimator.kept_features_ & coding.left_out).any():
        raise ValueError("its coding says that a feature is not used, and it uses it")
    highest = np.array([len(labels) - 1 for labels in coding.labels])
    words = estimator.kept_features_ & coding.worded
    low, high = estimator.value_ranges_[:, words]
    if (low < 0).any() or (high > highest[words]).any():
        raise ValueError("its coding lacks labels of values that it saw")
