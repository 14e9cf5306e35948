"""What all estimators do with a table: look it through, choose features, run the method."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from halfseen.core.arrays import Array, Mask
from halfseen.core.errors import DataError, DroppedFeatureWarning
from halfseen.core.joint_counts import pair_counts
from halfseen.core.method import learn
from halfseen.core.model import Model
from halfseen.core.naming import features
from halfseen.core.refinement import Climb, Refinement
from halfseen.core.rows import Rows
from halfseen.core.survey import Survey, survey
from halfseen.core.third_moment import ThirdMoment, explicit
from halfseen.core.third_route import asked_implicit, automatic
from halfseen.core.weights import WEIGHTINGS, Weighting, equal, given
from halfseen.decomposers import DECOMPOSERS
from halfseen.estimators.diagnostics import Diagnostics, diagnose
from halfseen.estimators.parameters import (
    check_choice,
    check_fraction,
    check_positive_integer,
    weights_array,
)
from halfseen.estimators.sources import open_rows

P = TypeVar("P")
Regression = Callable[[Rows, P, Mask, Mask], P]
"""From parameters of the ``used`` features, by the ``complete`` ones, to those of all features."""

THIRD_MOMENTS: dict[str, ThirdMoment] = {
    "auto": automatic,
    "explicit": explicit,
    "implicit": asked_implicit,
}
METHODS = ("weighted", "full", "partial")
INCOMPLETE = ("regress", "divide")


@dataclass(frozen=True, eq=False)
class Fit(Generic[P]):
    """A fitted model, for the features that could be used."""

    survey: Survey
    parameters: P  # of the kept features
    climb: Climb | None
    feature_weights: Array  # (d,)  zero for features that were not used
    diagnostics: Diagnostics


def check_shared_parameters(estimator: Any) -> None:
    """The parameters that all estimators have."""
    check_positive_integer(estimator, "n_components")
    check_fraction(estimator, "complete_above")
    check_choice(estimator, "method", METHODS)
    check_choice(estimator, "decomposer", DECOMPOSERS)
    check_choice(estimator, "third_moment", THIRD_MOMENTS)
    check_choice(estimator, "incomplete_features", INCOMPLETE)
    if estimator.method == "partial" and estimator.incomplete_features == "divide":
        raise ValueError(
            "method='partial' has no weights to divide by. Use incomplete_features='regress'."
        )


def fit_moments(
    estimator: Any,
    X: Any,
    sample_weight: Any,
    *,
    model: Model[P],
    auto_weighting: str,
    regression: Callable[[Survey], Regression[P]],
    refinement: Callable[[Survey], Refinement[P]] | None,
    check: Callable[[Survey], None] = lambda survey: None,
) -> Fit[P]:
    """Fit ``model`` to the table ``X`` (n, d) with the estimator's parameters."""
    rows, stages = open_rows(estimator, X, sample_weight)
    with stages("features"):
        seen = survey(rows, estimator.complete_above)
    check(seen)
    _check_survey(seen, estimator.n_components)
    _warn_of_dropped(seen)
    weighting = _weighting(estimator, auto_weighting, seen)
    kept = _restricted(seen)
    used = kept.complete if estimator.method == "partial" else np.ones_like(kept.complete)
    _check_used(estimator, used)
    how = _recovery_of_incomplete(estimator, kept)
    recover = regression(kept)

    def recovery(rows: Rows, parameters: P) -> P:
        return recover(rows, parameters, used, kept.complete) if how == "regress" else parameters

    learned = learn(
        rows.select(seen.kept),
        kept,
        used,
        model=model,
        n_components=estimator.n_components,
        weighting=weighting,
        third_moment=THIRD_MOMENTS[estimator.third_moment],
        decomposer=DECOMPOSERS[estimator.decomposer],
        recovery=recovery,
        refinement=None if refinement is None else refinement(kept),
        generator=_generator(estimator.random_state),
        stages=stages,
    )
    feature_weights = np.zeros(len(seen.names))
    feature_weights[np.flatnonzero(seen.kept)[used]] = learned.evidence.weights
    pairs = rows.select(seen.kept).accumulate(pair_counts) if not used.all() else None
    diagnostics = diagnose(seen, learned, how, stages, pairs)
    return Fit(seen, learned.parameters, learned.climb, feature_weights, diagnostics)


def keep_shared(estimator: Any, fit: Fit[Any]) -> None:
    """Set the learned attributes that all estimators have."""
    estimator.feature_weights_ = fit.feature_weights
    estimator.observed_fraction_ = fit.survey.sums.observed_fraction
    estimator.complete_features_ = fit.survey.complete
    estimator.kept_features_ = fit.survey.kept
    estimator.n_components_ = estimator.n_components
    estimator.diagnostics_ = fit.diagnostics
    estimator.columns_by_name_ = False  # as scikit-learn wants it; models from files do


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def _restricted(seen: Survey) -> Survey:
    """The survey of the features that are kept."""
    names = tuple(name for name, keep in zip(seen.names, seen.kept, strict=True) if keep)
    kept = seen.kept
    return Survey(names, seen.sums.select(kept), kept[kept], seen.complete[kept])


def _weighting(estimator: Any, auto: str, seen: Survey) -> Weighting:
    """The rule that gives features their weights."""
    choice = estimator.feature_weights
    named = {"auto": auto, "observed": "observed", "sqrt": "sqrt", "none": "none"}
    if isinstance(choice, str) and choice in named:
        rule = WEIGHTINGS[named[choice]]
    else:
        weights = weights_array(estimator, "feature_weights", choice, len(seen.names))
        rule = given(weights[seen.kept])
    return rule if estimator.method == "weighted" else equal


def _recovery_of_incomplete(estimator: Any, kept: Survey) -> str:
    """Regression needs complete features that can tell the components apart."""
    n_complete = int(np.count_nonzero(kept.complete))
    if n_complete == len(kept.names):
        return "none"
    if n_complete < estimator.n_components:
        return "divide"
    return str(estimator.incomplete_features)


def _check_survey(seen: Survey, n_components: int) -> None:
    n_rows = seen.sums.n_rows
    needed = max(n_components, 3)  # two rows have no third moment
    if n_rows < needed:
        raise DataError(
            f"n_components={n_components} needs at least {needed} rows in which something is "
            f"observed, but there are {n_rows:g} (n_samples={n_rows:g}; {seen.sums.n_empty} rows "
            "are empty; a sample_weight counts as so many rows). Add rows, use fewer components, "
            "or scale weights to sum to the number of rows."
        )
    if not seen.kept.any():
        raise DataError(
            f"No feature varies (n_features={len(seen.names)}; all are constant or never "
            "observed), so there is nothing to learn. Add features that vary."
        )


def _check_used(estimator: Any, used: Mask) -> None:
    if not used.any():
        raise DataError(
            "method='partial' uses complete features only, but none is observed in at least "
            f"{estimator.complete_above:.0%} of the rows. Lower complete_above, or use "
            "method='weighted'."
        )


def _warn_of_dropped(seen: Survey) -> None:
    for reason in dict.fromkeys(seen.dropped.values()):
        alike = [i for i, name in enumerate(seen.names) if seen.dropped.get(name) == reason]
        verb = "is" if len(alike) == 1 else "are"
        it = "it" if len(alike) == 1 else "them"
        warnings.warn(
            f"{features(seen.names, alike)} {verb} {reason} and left out of the fit. "
            f"Remove {it} from the table to be rid of this warning.",
            DroppedFeatureWarning,
            stacklevel=4,
        )
