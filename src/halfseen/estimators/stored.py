"""What of an estimator is in its model file: parameters, and all that was learned."""

from collections.abc import Callable, Mapping
from typing import Any

from halfseen.doubt.choice import Choice, HeldOut
from halfseen.doubt.rank_test import RankTest
from halfseen.method.diagnostics import Diagnostics
from halfseen.tables.preprocessing import Preprocessing

RECORDS: dict[str, type] = {
    kind.__name__: kind for kind in (Choice, Diagnostics, HeldOut, Preprocessing, RankTest)
}
"""Types of values with named fields. Fields added to them later need no change here."""

SHARED: Mapping[str, tuple[str, ...]] = {
    "feature_weights_": ("float64[d]",),
    "observed_fraction_": ("float64[d]",),
    "complete_features_": ("bool[d]",),
    "kept_features_": ("bool[d]",),
    "constants_": ("float64[d]",),
    "n_components_": ("int",),
    "diagnostics_": ("Diagnostics",),
    "preprocessing_": ("Preprocessing", "NoneType"),
    "n_iter_": ("int",),
    "converged_": ("bool",),
    "lower_bound_": ("float", "NoneType"),
}
"""The learned attributes of every estimator, and the forms they may have: k components, d features."""

LATER: Mapping[str, Callable[[Any], Any]] = {
    "preprocessing_": lambda learned: None,
    "converged_": lambda learned: True,
    "lower_bound_": lambda learned: None,
}
"""Attributes that came after the first files, from those that are there."""
