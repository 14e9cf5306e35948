"""What all estimators do with a table: look it through, choose features, run the method."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from halfseen.estimators.parameters import (
    check_choice,
    check_fraction,
    check_integer_or_auto,
    weights_array,
)
from halfseen.estimators.stream import Stream
from halfseen.method.decomposers import DECOMPOSERS
from halfseen.method.diagnostics import Diagnostics, diagnose
from halfseen.method.learn import learn
from halfseen.method.model import Model
from halfseen.method.recipe import Recipe
from halfseen.method.refinement import Climb, Refinement
from halfseen.method.regression import recovered
from halfseen.method.weights import WEIGHTINGS, Weighting, equal, given
from halfseen.moments.adjusted import AdjustedSecond, AdjustedThird, Prediction
from halfseen.moments.origin_sums import StreamSecond, stream_third
from halfseen.moments.second import AllPairs, SecondMoment
from halfseen.moments.survey import Survey, survey, survey_of
from halfseen.moments.thin_second import ThinProducts
from halfseen.moments.thirds.route import MOST_EXPLICIT, asked_implicit, automatic
from halfseen.moments.thirds.third import ThirdMoment, explicit
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.errors import DataError, DroppedFeatureWarning
from halfseen.rows.naming import features
from halfseen.rows.rows import Rows
from halfseen.rows.seen_once import GoneRows
from halfseen.rows.stages import Stages

P = TypeVar("P")

THIRD_MOMENTS: dict[str, ThirdMoment] = {
    "auto": automatic,
    "explicit": explicit,
    "implicit": asked_implicit,
}
WIDE = 4096
"""More features than this have no array of all pairs: it and its eigenvectors take minutes."""
SPARSE_WIDE = 512
"""The same for sparse tables, whose products cost what is not zero."""
MOMENTS = ("available", "adjusted")
METHODS = ("weighted", "full", "partial")
INCOMPLETE = ("regress", "divide")


class Routes(NamedTuple):
    """How the moments are had."""

    second: SecondMoment
    third: ThirdMoment


@dataclass(frozen=True, eq=False)
class Fit(Generic[P]):
    """A fitted model, for the features that could be used."""

    n_components: int
    survey: Survey
    parameters: P  # of the kept features
    climb: Climb | None
    feature_weights: Array  # (d,)  zero for features that were not used
    diagnostics: Diagnostics


def check_shared_parameters(estimator: Any) -> None:
    """The parameters that all estimators have."""
    check_integer_or_auto(estimator, "n_components")
    check_fraction(estimator, "complete_above")
    check_choice(estimator, "method", METHODS)
    check_choice(estimator, "decomposer", DECOMPOSERS)
    check_choice(estimator, "third_moment", THIRD_MOMENTS)
    check_choice(estimator, "moments", MOMENTS)
    check_choice(estimator, "incomplete_features", INCOMPLETE)
    if estimator.method == "partial" and estimator.incomplete_features == "divide":
        raise ValueError(
            "method='partial' has no weights to divide by. Use incomplete_features='regress'."
        )


def look_through(estimator: Any, rows: Rows, recipe: Recipe[Any], stages: Stages) -> Survey:
    """The features of a table, if it has what the model can learn from."""
    with stages("features"):
        seen = survey(rows, estimator.complete_above)
    recipe.check(seen)
    _check_survey(estimator, seen)
    _warn_of_dropped(seen)
    return seen


def fit_rows(
    estimator: Any,
    rows: Rows,
    seen: Survey,
    recipe: Recipe[P],
    n_components: int,
    stages: Stages,
    routes: Callable[[Mask], Routes] | None = None,
) -> Fit[P]:
    """Fit the recipe's model to rows that were looked through, with the estimator's parameters.

    ``routes`` to the moments of the used features, if they are known already.
    """
    plan = _planned(estimator, recipe.auto_weighting, seen, n_components)
    regression = None if recipe.regression is None else recipe.regression(plan.kept)

    def recovery(rows: Rows, parameters: P) -> P:
        if regression is None or plan.recovery != "regress":
            return parameters
        complete = plan.kept.complete
        reference = regression.reference(parameters, complete[plan.used])
        return recovered(rows, regression, reference, complete)

    if routes is None:
        route = _routes(estimator, rows.select(seen.kept), plan, recipe)
    else:
        route = routes(plan.used)
    return _fit(
        estimator,
        rows,
        plan,
        stages,
        route,
        model=recipe.model,
        recovery=recovery,
        refinement=None if recipe.refinement is None else recipe.refinement(plan.kept),
    )


def fit_stream(estimator: Any, stream: Stream, recipe: Recipe[P]) -> Fit[P]:
    """Fit the recipe's model to the sums of rows that are gone: by moments alone, once."""
    if estimator.n_components == "auto":
        raise ValueError(
            "n_components='auto' goes over the rows again, and those of a stream are gone. Choose "
            "with halfseen.choose_components() on some rows, or use fit()."
        )
    seen = survey_of(stream.names, stream.sums.features, estimator.complete_above)
    _check_survey(estimator, seen)
    _warn_of_dropped(seen)
    plan = _planned(estimator, recipe.auto_weighting, seen, estimator.n_components)
    plan = replace(plan, recovery="none" if plan.recovery == "none" else "divide")
    sums = stream.sums.select(seen.kept)
    return _fit(
        estimator,
        GoneRows(stream.names),
        plan,
        Stages(),
        Routes(StreamSecond(sums), stream_third(sums)),
        model=recipe.model,
        recovery=lambda rows, parameters: parameters,
        refinement=None,
    )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What was decided after a look at the features."""

    n_components: int
    seen: Survey
    kept: Survey  # of the features that vary
    used: Mask  # (kept,)  those that the moments are taken of
    weighting: Weighting
    recovery: str  # of incomplete features: "none", "regress" or "divide"


def _planned(estimator: Any, auto_weighting: str, seen: Survey, n_components: int) -> _Plan:
    kept = restricted(seen)
    used = used_features(estimator, kept)
    check_used(estimator, used)
    weighting = _weighting(estimator, auto_weighting, seen)
    recovery = recovery_of_incomplete(estimator, kept, n_components)
    return _Plan(n_components, seen, kept, used, weighting, recovery)


def _fit(
    estimator: Any,
    rows: Rows,
    plan: _Plan,
    stages: Stages,
    routes: Routes,
    *,
    model: Model[P],
    recovery: Callable[[Rows, P], P],
    refinement: Refinement[P] | None,
) -> Fit[P]:
    seen, used = plan.seen, plan.used
    learned = learn(
        rows.select(seen.kept),
        plan.kept,
        used,
        model=model,
        n_components=plan.n_components,
        weighting=plan.weighting,
        second_moment=routes.second,
        third_moment=routes.third,
        decomposer=DECOMPOSERS[estimator.decomposer],
        recovery=recovery,
        refinement=refinement,
        generator=_generator(estimator.random_state),
        stages=stages,
    )
    feature_weights = np.zeros(len(seen.names))
    feature_weights[np.flatnonzero(seen.kept)[used]] = learned.evidence.weights
    gaps = learned.evidence.moments.gaps
    if not used.all():
        gaps = routes.second.gaps(rows.select(seen.kept), plan.kept.sums)
    diagnostics = diagnose(seen, learned, plan.recovery, stages, gaps)
    return Fit(
        plan.n_components, seen, learned.parameters, learned.climb, feature_weights, diagnostics
    )


def keep_shared(estimator: Any, fit: Fit[Any]) -> None:
    """Set the learned attributes that all estimators have."""
    estimator.feature_weights_ = fit.feature_weights
    estimator.observed_fraction_ = fit.survey.sums.observed_fraction
    estimator.complete_features_ = fit.survey.complete
    estimator.kept_features_ = fit.survey.kept
    estimator.n_components_ = fit.n_components
    estimator.diagnostics_ = fit.diagnostics
    estimator.preprocessing_ = None
    estimator.columns_by_name_ = False  # as scikit-learn wants it; models from files do


def _routes(estimator: Any, rows: Rows, plan: _Plan, recipe: Recipe[Any]) -> Routes:
    if estimator.moments == "adjusted":
        complete = plan.kept.complete[plan.used]
        check_adjustable(recipe, complete)
        part, sums = rows.select(plan.used), plan.kept.sums.select(plan.used)
        prediction = Prediction.learn(part, sums, complete)
        return Routes(AdjustedSecond(prediction), AdjustedThird(prediction))
    second = _second_moment(estimator, rows, len(plan.kept.names), recipe.thin)
    return Routes(second, THIRD_MOMENTS[estimator.third_moment])


def check_adjustable(recipe: Recipe[Any], complete: Mask) -> None:
    """There are features to predict others from, and not too many."""
    if not recipe.model.centred:
        raise ValueError("moments='adjusted' are about the mean. Use form='centred'.")
    if not complete.any():
        raise DataError(
            "moments='adjusted' predicts incomplete features from complete ones, but none is "
            "complete. Lower complete_above, or use moments='available'."
        )
    if len(complete) > MOST_EXPLICIT:
        raise DataError(
            f"moments='adjusted' holds all triples of features, and {len(complete)} are too many "
            f"(at most {MOST_EXPLICIT}). Use moments='available'."
        )


def _second_moment(estimator: Any, rows: Rows, n_features: int, thin: bool) -> SecondMoment:
    """Pairs of features in an array or, where that is too large, products with it."""
    many = n_features > (SPARSE_WIDE if rows.sparse else WIDE)
    if not (thin and many):
        return AllPairs()
    if estimator.third_moment == "explicit" and n_features > WIDE:
        raise DataError(
            f"third_moment='explicit' would hold {n_features**3 / 3:.1g} numbers for the triples "
            f"of {n_features} features. Use third_moment='auto', which never forms them."
        )
    return AllPairs() if estimator.third_moment == "explicit" else ThinProducts()


def _generator(random_state: Any) -> np.random.Generator:
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def restricted(seen: Survey) -> Survey:
    """The survey of the features that are kept."""
    names = tuple(name for name, keep in zip(seen.names, seen.kept, strict=True) if keep)
    kept = seen.kept
    return Survey(names, seen.sums.select(kept), kept[kept], seen.complete[kept])


def _weighting(estimator: Any, auto: str, seen: Survey) -> Weighting:
    """The rule that gives features their weights."""
    choice = estimator.feature_weights
    if isinstance(choice, str) and choice in ("auto", *WEIGHTINGS):
        rule = WEIGHTINGS[auto if choice == "auto" else choice]
    else:
        weights = weights_array(estimator, "feature_weights", choice, len(seen.names))
        rule = given(weights[seen.kept])
    return rule if estimator.method == "weighted" else equal


def used_features(estimator: Any, kept: Survey) -> Mask:
    """The kept features that the moments are taken of."""
    return kept.complete if estimator.method == "partial" else np.ones_like(kept.complete)


def recovery_of_incomplete(estimator: Any, kept: Survey, n_components: int) -> str:
    """Regression needs complete features that can tell the components apart."""
    n_complete = int(np.count_nonzero(kept.complete))
    if n_complete == len(kept.names):
        return "none"
    if n_complete < n_components:
        return "divide"
    return str(estimator.incomplete_features)


def _check_survey(estimator: Any, seen: Survey) -> None:
    n_rows, n_components = seen.sums.n_rows, estimator.n_components
    if n_components == "auto":
        n_components = 1
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


def check_used(estimator: Any, used: Mask) -> None:
    """There are features to take moments of."""
    if not used.any():
        raise DataError(
            "method='partial' uses complete features only, but none is observed in at least "
            f"{estimator.complete_above:.0%} of the rows. Lower complete_above, or use "
            "method='weighted'."
        )


def _warn_of_dropped(seen: Survey) -> None:
    dropped = seen.dropped
    for reason in dict.fromkeys(dropped.values()):
        alike = [i for i, name in enumerate(seen.names) if dropped.get(name) == reason]
        verb = "is" if len(alike) == 1 else "are"
        it = "it" if len(alike) == 1 else "them"
        warnings.warn(
            f"{features(seen.names, alike)} {verb} {reason} and left out of the fit. "
            f"Remove {it} from the table to be rid of this warning.",
            DroppedFeatureWarning,
            stacklevel=5,
        )
