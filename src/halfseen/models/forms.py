"""What the file of each estimator holds of it, and in which forms."""

from typing import Any

from halfseen.doubt.choice import Choice, HeldOut
from halfseen.doubt.rank_test import RankTest
from halfseen.method.diagnostics import Diagnostics
from halfseen.store.kind import Forms, Kind
from halfseen.tables.preprocessing import Preprocessing

RECORDS: dict[str, type] = {
    kind.__name__: kind for kind in (Choice, Diagnostics, HeldOut, Preprocessing, RankTest)
}
SIZES = {"k": "n_components_"}
LATER: dict[str, Any] = {"preprocessing_": None}
_SHARED: Forms = {
    "feature_weights_": ("float64[d]",),
    "observed_fraction_": ("float64[d]",),
    "complete_features_": ("bool[d]",),
    "kept_features_": ("bool[d]",),
    "n_components_": ("int",),
    "diagnostics_": ("Diagnostics",),
    "preprocessing_": ("Preprocessing", "NoneType"),
}
FORMS: dict[str, Forms] = {
    "GaussianMixture": {
        **_SHARED,
        "weights_": ("float64[k]",),
        "means_": ("float64[k,d]",),
        "covariances_": ("float", "float64[k]", "float64[k,d]"),
        "n_iter_": ("int",),
        "converged_": ("bool",),
        "lower_bound_": ("float", "NoneType"),
    },
    "GammaPoisson": {
        **_SHARED,
        "components_": ("float64[k,d]",),
        "shapes_": ("float64[k]",),
        "rate_": ("float",),
        "constants_": ("float64[d]",),
        "n_iter_": ("int",),
    },
}
"""The learned attributes of each estimator, and the forms they may have: k components, d features.

To store another estimator, add it here and to the classes in ``public.load``.
"""


def kind_of(estimator: Any) -> Kind:
    """What the store has to know of a class of ours."""
    name = estimator.__name__
    if name not in FORMS:
        raise TypeError(f"{name} is not an estimator of halfseen. Save the one it is made from.")

    def make(parameters: dict[str, Any]) -> Any:
        made = estimator(**parameters)
        made.columns_by_name_ = True  # of tables that may be of another day, in another order
        return made

    return Kind(name, make, _check_preprocessing, FORMS[name], SIZES, RECORDS, LATER)


def _check_preprocessing(estimator: Any) -> None:
    done, names = estimator.preprocessing_, getattr(estimator, "feature_names_in_", None)
    if done is not None and (names is None or done.fitted_names != list(names)):
        raise ValueError("its preprocessing is of other columns than it was fitted to")
