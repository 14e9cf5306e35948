"""Sums of one place's rows by a plan: the first, and whatever is asked for next."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from halfseen.estimators.agreed_rows import agreed_rows, stand_in, warn_of_clipped
from halfseen.estimators.disclosure import check_components, check_disclosure, without_few
from halfseen.estimators.noise import budget, noised
from halfseen.estimators.plan import Plan
from halfseen.estimators.stored import kind_of
from halfseen.estimators.stream import Stream
from halfseen.method.fit import Fit, fit_sums
from halfseen.method.learned import check_finite
from halfseen.method.model import Climb
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.survey import Survey
from halfseen.rows.engines.summed import Answers, MoreSumsNeeded, NextSums, SummedRows
from halfseen.rows.errors import DataError
from halfseen.rows.flat_sums import Flat
from halfseen.rows.rows import Rows
from halfseen.store import model_file
from halfseen.tables.declared_kinds import takes_kinds


def sum_rows(
    estimator: Any,
    X: Any,
    plan: Plan,
    at: Any = None,
    *,
    leave_out: bool = False,
    epsilon: float | None = None,
    random: Any = None,
) -> Stream:
    """The sums of the rows of ``X`` that a fit asks for first, or after ``at``.

    That is the sums of all places in the last round, or the model that they led to.
    """
    check_summable(estimator)
    agreed = agreed_rows(estimator, X, plan)
    if at is None:
        warn_of_clipped(agreed, plan)
    rows: Rows = agreed
    triples = plan.few_columns and not takes_kinds(estimator)
    n_out = 0
    if leave_out:
        rows, n_out = without_few(rows, plan, triples)
    if at is not None and plan.noise is not None:
        raise ValueError(
            "A plan with noise is for one round of sums: a second would spend its epsilon again, "
            "and tell more than was agreed on. Plan without noise to go on."
        )
    sums = _first(rows, plan, triples and at is None)
    check_disclosure(sums, plan)  # in every round: nobody knows that the rows are those of the last
    if isinstance(at, Stream):
        if at.plan != plan:
            raise DataError("The last round was summed by another plan. Go on with that one.")
        answer = _asked(lambda here: _fit(estimator, replace(at, model=None), here), rows)
        return Stream(plan.names, at.sums, plan, (*at.rounds, answer), n_left_out=n_out)
    if at is None:
        private = noised(sums, budget(plan, epsilon), np.random.default_rng(random))
        return Stream(plan.names, private, plan, n_left_out=n_out)
    check_same_columns(at, plan.names)
    answer = _asked(lambda here: _step(at, Stream(plan.names, sums, plan), here), rows)
    check_components(answer["share"], plan, at.about.noun)
    model = model_file.dumps(at, kind_of(type(at)))
    return Stream(plan.names, sums, plan, (answer,), model, n_out)


def _first(rows: Rows, plan: Plan, triples: bool) -> MomentSums:
    """Without anything of single rows: the ends of ranges are those of the plan."""
    values = [column.levels for column in plan.columns]
    summarise = MomentSums.about(
        plan.each("origin"), plan.each("scale"), triples=triples, values=values
    )
    whole = np.array([column.kind != "continuous" for column in plan.columns])
    return replace(
        rows.accumulate(summarise),
        minimum=plan.each("low"),
        maximum=plan.each("high"),
        whole=whole,
        two_valued=np.array([len(own) == 2 for own in values]),
    )


def _asked(learn: Callable[[Rows], Any], here: Rows) -> Flat:
    """What a fit asks next, summed over the rows that are here."""
    try:
        learn(here)
    except NextSums as found:
        return found.sums
    raise DataError(
        "These sums are enough, and nothing more is asked. Have them fitted, and sum at the model."
    )


def learn_from(estimator: Any, stream: Stream) -> Fit[Any]:
    """The fit that sums are enough for; raises :class:`MoreSumsNeeded` if they are not yet."""
    check_summable(estimator)
    try:
        if stream.model is None:
            return _fit(estimator, stream, None)
        at = model_in(stream, type(estimator))
        check_same_columns(at, stream.names)
        return _step(at, stream, None)
    except MoreSumsNeeded as error:
        raise MoreSumsNeeded(
            f"{type(estimator).__name__} asks for more sums than these: {len(stream.rounds) + 1} "
            "were summed. Have all places sum again at these: summed(X, plan, at=sums), or "
            "'halfseen sums DATA --plan plan.json --at' what fit wrote."
        ) from error


def model_in(stream: Stream, kind: Any) -> Any:
    """The model that sums were summed at."""
    if stream.model is None:
        raise ValueError("These sums are not of a round at a model.")
    own = kind_of(kind)
    return model_file.loads(stream.model, "The model in the sums", {own.name: own})


def _fit(estimator: Any, stream: Stream, here: Rows | None) -> Fit[Any]:
    """By moments, and whatever rounds were asked for after them."""
    like = taking_values_at_their_word(estimator)
    settings, _ = like.checked()
    rows = None
    if stream.plan is not None:
        table = stand_in(stream.plan, stream.sums.levels)
        rows = SummedRows(stream.names, Answers(stream.rounds), table, here)
    take_names(like, stream)
    return fit_sums(settings, like._model(), stream.names, stream.sums, rows)


def _step(at: Any, stream: Stream, here: Rows | None) -> Fit[Any]:
    """One step of EM from the model ``at``."""
    plan = stream.plan
    if plan is None:
        raise ValueError("Sums at a model need a plan.")
    fitted, sums = at.fitted, stream.sums.features
    kept = fitted.kept
    seen = Survey(stream.names, sums, kept, kept & (sums.observed_fraction >= at.complete_above))
    table = stand_in(plan, stream.sums.levels)
    rows = SummedRows(stream.names, Answers(stream.rounds), table, here).select(kept)
    model = taking_values_at_their_word(at)._model().suited(table.select(kept), seen.of_kept())
    polished = model.step(rows, fitted.parameters)
    check_finite(polished.parameters)
    before, height = at.lower_bound_, polished.climb.log_likelihood
    gained = before is None or height is None or height - before >= at.tol
    climb = Climb(height, at.n_iter_ + 1, not gained, n_rows=polished.climb.n_rows)
    ends = np.array([sums.minimum, sums.maximum])  # which the plan declares
    return Fit(
        fitted.n_components,
        seen,
        polished.parameters,
        climb,
        at.feature_weights_,
        ends,
        ends,
        at.diagnostics_,
    )


def taking_values_at_their_word(estimator: Any) -> Any:
    """The same without a search for outliers, which sums do not show: ranges are the plan's."""
    like = clone(estimator)
    for name in ("coding_", "covariance_type_", "n_factors_", "n_features_in_"):
        if hasattr(estimator, name):
            setattr(like, name, getattr(estimator, name))
    return like.set_params(outliers=None)


def take_names(estimator: Any, stream: Stream) -> None:
    """The features of an estimator are those of the sums."""
    names = stream.names
    estimator.n_features_in_ = len(names)
    if names != tuple(map(str, range(len(names)))):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if takes_kinds(estimator) and stream.plan is not None:
        estimator.coding_ = stream.plan.coding


def check_summable(estimator: Any) -> None:
    """Refuse models that sums of rows are not enough for."""
    about, reason = estimator.about, estimator._model().abilities.not_streamed
    if about.sequences:
        raise ValueError(
            f"{type(estimator).__name__} learns from rows that follow each other, of which there "
            "are no sums by a plan yet. Use fit() on rows."
        )
    if not about.labels and reason:
        raise ValueError(reason)


def check_same_columns(at: Any, columns: tuple[str, ...]) -> None:
    """Refuse a model of other columns than the plan's."""
    names = tuple(map(str, getattr(at, "feature_names_in_", range(at.n_features_in_))))
    if names != columns:
        raise DataError(
            "The model is of other columns than the plan. Sum at a model that was learned by this "
            "plan."
        )
