"""From rows to a fit: look them through, plan, learn, and say how it went."""

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from halfseen.method.diagnostics import Diagnostics, diagnose
from halfseen.method.learn import learn
from halfseen.method.model import Climb, Model
from halfseen.method.plan import Plan, Routes, planned, routes
from halfseen.method.settings import Settings
from halfseen.moments.origin_sums import StreamSecond, StreamSums, stream_third
from halfseen.moments.survey import Survey, survey, survey_of
from halfseen.rows.arrays import Array
from halfseen.rows.errors import DataError, DroppedFeatureWarning, warn
from halfseen.rows.naming import features
from halfseen.rows.rows import Rows
from halfseen.rows.seen_once import GoneRows
from halfseen.rows.stages import Stages

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class Fit(Generic[P]):
    """A fitted model, for the features that could be used."""

    n_components: int
    survey: Survey
    parameters: P  # of the kept features
    climb: Climb | None
    feature_weights: Array  # (d,)  zero for features that were not used
    diagnostics: Diagnostics


def look_through(settings: Settings, model: Model[Any], rows: Rows, stages: Stages) -> Survey:
    """The features of a table, if it has what the model can learn from."""
    with stages("features"):
        seen = survey(rows, settings.complete_above)
    model.check(seen)
    model.caution(seen)
    _check_survey(settings, seen)
    _warn_of_dropped(seen)
    return seen


def fit_rows(
    settings: Settings,
    model: Model[P],
    rows: Rows,
    seen: Survey,
    n_components: int,
    stages: Stages,
) -> Fit[P]:
    """Fit a model to rows that were looked through."""
    plan, part = planned(settings, model, seen, n_components), rows.select(seen.kept)
    return _fit(part, model, plan, routes(plan, model, part), stages)


def fit_stream(
    settings: Settings, model: Model[P], names: tuple[str, ...], sums: StreamSums
) -> Fit[P]:
    """Fit a model to the sums of rows that are gone: by moments alone, once."""
    if settings.n_components == "auto":
        raise ValueError(
            "n_components='auto' goes over the rows again, and those of a stream are gone. Choose "
            "with halfseen.choose_components() on some rows, or use fit()."
        )
    seen = survey_of(names, sums.features, settings.complete_above)
    _check_survey(settings, seen)
    _warn_of_dropped(seen)
    plan = planned(settings, model, seen, settings.n_components)
    recovery = "none" if plan.recovery == "none" else "divide"
    plan, sums = replace(plan, recovery=recovery, polish=False), sums.select(seen.kept)
    rows = GoneRows(names).select(seen.kept)
    return _fit(rows, model, plan, Routes(StreamSecond(sums), stream_third(sums)), Stages())


def _fit(rows: Rows, model: Model[P], plan: Plan, routes: Routes, stages: Stages) -> Fit[P]:
    learned = learn(rows, model, plan, routes, stages)
    feature_weights = np.zeros(len(plan.seen.names))
    feature_weights[np.flatnonzero(plan.seen.kept)[plan.used]] = learned.evidence.weights
    gaps = learned.evidence.moments.gaps
    if not plan.used.all():
        gaps = routes.second.gaps(rows, plan.kept.sums)
    diagnostics = diagnose(plan.seen, learned, plan.recovery, stages, gaps)
    return Fit(
        plan.n_components,
        plan.seen,
        learned.parameters,
        learned.climb,
        feature_weights,
        diagnostics,
    )


def _check_survey(settings: Settings, seen: Survey) -> None:
    n_rows, n_components = seen.sums.n_rows, settings.n_components
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


def _warn_of_dropped(seen: Survey) -> None:
    dropped = seen.dropped
    for reason in dict.fromkeys(dropped.values()):
        alike = [i for i, name in enumerate(seen.names) if dropped.get(name) == reason]
        verb = "is" if len(alike) == 1 else "are"
        it = "it" if len(alike) == 1 else "them"
        warn(
            f"{features(seen.names, alike)} {verb} {reason} and left out of the fit. "
            f"Remove {it} from the table to be rid of this warning.",
            DroppedFeatureWarning,
        )
