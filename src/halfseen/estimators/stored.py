"""What of an estimator is in its model file: parameters, and all that was learned."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from halfseen.doubt.choice import Choice, HeldOut, TriedNumber
from halfseen.doubt.rank_test import RankTest
from halfseen.estimators.consistent import check_consistent
from halfseen.method.fit import Diagnostics
from halfseen.method.learned import forms
from halfseen.rows.arrays import Array
from halfseen.store import model_file
from halfseen.store.kind import Forms, Kind, Later
from halfseen.tables.coding import Coding
from halfseen.tables.kept_tables import KeptTables
from halfseen.tables.preprocessing import Preprocessing
from halfseen.tables.text import Text

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
    """Limits as far as ranges and steps tell: two values, and zero where nothing is beyond it."""
    if not {"value_ranges_", "value_steps_"} <= learned.keys():
        return _anything(len(learned["kept_features_"]))
    low, high = learned["value_ranges_"]
    two_valued = (learned["value_steps_"] > 0) & (learned["value_steps_"] == high - low)
    floor = np.where(two_valued, low, np.where(low >= 0, 0.0, -np.inf))
    return np.array([floor, np.where(two_valued, high, np.where(high <= 0, 0.0, np.inf))])


def kind_of(estimator: Any) -> Kind:
    """What the store has to know of a class of estimators."""

    def make(parameters: dict[str, Any]) -> Any:
        made = estimator(**parameters)
        made.columns_by_name_ = True  # of tables that may be of another day, in another order
        return made

    return Kind(
        name=estimator.__name__,
        make=make,
        check=check_consistent,
        forms=_forms,
        sizes={"k": "n_components_"},
        records=RECORDS,
        later={**LATER, **estimator.later},
    )


def _forms(estimator: Any, learned: Mapping[str, Any]) -> Forms:
    """All that an estimator learns, given what was decided in its fit."""
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
