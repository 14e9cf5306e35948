"""Sums of one place's rows for a plan, round by round."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone

from halfseen.data.arrays import Array
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.engines.precomputed import Answers, Flat, MoreSumsNeeded, NextSums, SummedRows
from halfseen.data.errors import DataError, warn
from halfseen.data.formatting import quoted
from halfseen.data.rows import Block, MappedRows, Rows
from halfseen.federated.disclosure import (
    add_noise,
    check_components,
    check_disclosure,
    noise_for,
    without_few,
)
from halfseen.federated.plan import Plan
from halfseen.federated.sums import Stream
from halfseen.inference.fit import Fit, fit_sums
from halfseen.inference.model import Convergence
from halfseen.inference.parameters import check_finite
from halfseen.io.coding import COLUMN_KINDS, Coding, takes_kinds
from halfseen.io.containers import as_frame
from halfseen.io.open_files import names_in
from halfseen.io.source import open_table, source_of
from halfseen.io.sparse_matrix import is_sparse_file
from halfseen.io.table import Reading
from halfseen.io.validation import column_names
from halfseen.moments.moment_sums import MomentSums
from halfseen.moments.survey import Survey
from halfseen.persistence import model_file


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
    """The first sums that a fit needs of the rows of ``X``, or the next ones after ``at``.

    That is the sums of all places in the last round, or the model that they led to.
    """
    check_summable(estimator)
    agreed = planned_rows(estimator, X, plan)
    if at is None:
        _warn_of_clipped(agreed, plan)
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
        private = add_noise(sums, noise_for(plan, epsilon), np.random.default_rng(random))
        return Stream(plan.names, private, plan, n_left_out=n_out)
    _check_same_columns(at, plan.names)
    answer = _asked(lambda here: _step(at, Stream(plan.names, sums, plan), here), rows)
    check_components(answer["share"], plan, at.about.noun)
    model = model_file.dumps(at, at._file_kind())
    return Stream(plan.names, sums, plan, (answer,), model, n_out)


def _first(rows: Rows, plan: Plan, triples: bool) -> MomentSums:
    """The first sums, with ranges taken from the plan instead of from rows."""
    values = [column.levels for column in plan.columns]
    summarise = MomentSums.about(
        plan.each("origin"), plan.each("scale"), triples=triples, values=values
    )
    whole = np.array([COLUMN_KINDS[column.kind].whole for column in plan.columns])
    return replace(
        rows.accumulate(summarise),
        minimum=plan.each("low"),
        maximum=plan.each("high"),
        whole=whole,
        two_valued=np.array([len(own) == 2 for own in values]),
    )


def _asked(learn: Callable[[Rows], Any], here: Rows) -> Flat:
    """The next sums of a fit."""
    try:
        learn(here)
    except NextSums as found:
        return found.sums
    raise DataError(
        "These sums are enough, and nothing more is asked. Have them fitted, and sum at the model."
    )


def learn_from(estimator: Any, stream: Stream) -> Fit[Any]:
    """A fit from sums; raises :class:`MoreSumsNeeded` if they are not enough yet."""
    check_summable(estimator)
    try:
        if stream.model is None:
            return _fit(estimator, stream, None)
        at = _model_in(stream, type(estimator))
        _check_same_columns(at, stream.names)
        return _step(at, stream, None)
    except MoreSumsNeeded as error:
        raise MoreSumsNeeded(
            f"{type(estimator).__name__} asks for more sums than these: {len(stream.rounds) + 1} "
            "were summed. Have all places sum again at these: summed(X, plan, at=sums), or "
            "'halfseen sums DATA --plan plan.json --at' what fit wrote."
        ) from error


def _model_in(stream: Stream, kind: Any) -> Any:
    """The model at which sums were computed."""
    if stream.model is None:
        raise ValueError("These sums are not of a round at a model.")
    own = kind._file_kind()
    return model_file.loads(stream.model, "The model in the sums", {own.name: own})


def _fit(estimator: Any, stream: Stream, here: Rows | None) -> Fit[Any]:
    """A fit by moments and by all further rounds."""
    like = _without_outlier_search(estimator)
    settings, _ = like.checked()
    rows = None
    if stream.plan is not None:
        table = _synthetic_rows(stream.plan, stream.sums.levels)
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
    table = _synthetic_rows(plan, stream.sums.levels)
    rows = SummedRows(stream.names, Answers(stream.rounds), table, here).select(kept)
    model = _without_outlier_search(at)._model().adapted_to(table.select(kept), seen.of_kept())
    refined = model.step(rows, fitted.parameters)
    check_finite(refined.parameters)
    before, height = at.lower_bound_, refined.convergence.log_likelihood
    gained = before is None or height is None or height - before >= at.tol
    convergence = Convergence(height, at.n_iter_ + 1, not gained, n_rows=refined.convergence.n_rows)
    ends = np.array([sums.minimum, sums.maximum])  # which the plan declares
    return Fit(
        model,
        fitted.n_components,
        seen,
        refined.parameters,
        convergence,
        at.feature_weights_,
        ends,
        ends,
        at.diagnostics_,
    )


def _without_outlier_search(estimator: Any) -> Any:
    """The estimator without outliers, which sums do not show."""
    like = clone(estimator)
    for name in ("coding_", "covariance_type_", "n_factors_", "n_features_in_"):
        if hasattr(estimator, name):
            setattr(like, name, getattr(estimator, name))
    return like.set_params(outliers=None)


def take_names(estimator: Any, stream: Stream) -> None:
    """Set the estimator's features to those of the sums."""
    names = stream.names
    estimator.n_features_in_ = len(names)
    if names != tuple(map(str, range(len(names)))):
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if takes_kinds(estimator) and stream.plan is not None:
        estimator.coding_ = stream.plan.coding


def check_summable(estimator: Any) -> None:
    """Refuse models that cannot be fitted from sums."""
    about, reason = estimator.about, estimator._model().abilities.not_streamed
    if about.sequences:
        raise ValueError(
            f"{type(estimator).__name__} learns from rows that follow each other, of which there "
            "are no sums by a plan yet. Use fit() on rows."
        )
    if not about.labels and reason:
        raise ValueError(reason)


def _check_same_columns(at: Any, columns: tuple[str, ...]) -> None:
    """Refuse a model of other columns than the plan's."""
    names = tuple(map(str, getattr(at, "feature_names_in_", range(at.n_features_in_))))
    if names != columns:
        raise DataError(
            "The model is of other columns than the plan. Sum at a model that was learned by this "
            "plan."
        )


class ClippedWarning(UserWarning):
    """Cells are beyond the ranges of a plan."""


N_QUANTILES = 201
"""Of a column in the stand-in: so many that none of them is common."""


def planned_rows(estimator: Any, X: Any, plan: Plan) -> MappedRows:
    """The rows of ``X``, whatever ``fit`` takes, with the plan's columns; what it lacks is gaps."""
    files = source_of(X).files or X
    known = _names(files)
    there = plan.names if known is None else tuple(n for n in plan.names if n in set(known))
    if not there:
        raise DataError(
            f"The table has none of the columns of the plan ({_quoted_columns(plan)}). "
            "Rename its columns, or give another table."
        )
    coding = _select_coding(plan.coding, there) if takes_kinds(estimator) else None
    rows = open_table(_select_columns(files, known, there), Reading.of(estimator, coding)).rows
    if len(rows.names) != len(there):
        raise DataError(
            f"The table has {len(rows.names)} columns and the plan {len(there)}. Give the same "
            "columns, or a table whose columns have names."
        )
    if not set(rows.names) <= set(plan.names):
        raise DataError(
            f"The columns of the table are called {quoted(rows.names, most=5)}, "
            f"and those of the plan {_quoted_columns(plan)}. Name them alike."
        )
    wide = rows if rows.names == plan.names else _widened(rows, plan.names)
    return wide.map(_clip_to_plan(plan))


def _widened(rows: Rows, names: tuple[str, ...]) -> Rows:
    """Rows with all columns of ``names``; missing columns are gaps."""
    own = {name: i for i, name in enumerate(rows.names)}
    wide = np.array([i for i, name in enumerate(names) if name in own], dtype=int)
    narrow = np.array([own[names[i]] for i in wide], dtype=int)
    d = len(names)

    def widen(block: Block) -> Block:
        values, observed = np.zeros((len(block), d)), np.zeros((len(block), d), bool)
        values[:, wide], observed[:, wide] = block.values[:, narrow], block.observed[:, narrow]
        return Block(values, observed, block.weights, block.start, block.sequence)

    return rows.map(widen, names=names, dense=True)


def _warn_of_clipped(rows: MappedRows, plan: Plan) -> None:
    """Warn of columns with cells beyond the plan's ranges."""
    low, high = plan.each("low"), plan.each("high")

    def beyond(block: Block) -> Array:
        outside = ((block.values < low) | (block.values > high)) & block.observed
        number: Array = outside.sum(axis=0).astype(float)
        return number

    number = rows.rows.accumulate(beyond)
    for i in np.flatnonzero(number):
        cells = "1 cell" if number[i] == 1 else f"{number[i]:,.0f} cells"
        warn(
            f"{cells} of '{plan.names[i]}' {'is' if number[i] == 1 else 'are'} beyond the plan's "
            f"range, {low[i]:g} to {high[i]:g}, and count as its ends. Agree on a wider range, "
            "unless they are errors or few.",
            ClippedWarning,
        )


def _quoted_columns(plan: Plan) -> str:
    return quoted(plan.names)


def _names(X: Any) -> tuple[str, ...] | None:
    """The names of all columns, if the table has some."""
    if (files := source_of(X).files) is not None:
        return None if is_sparse_file(files.single) else tuple(map(str, names_in(files)))
    return tuple(map(str, column_names(X))) or None


def _select_columns(X: Any, known: tuple[str, ...] | None, names: tuple[str, ...]) -> Any:
    if known is None:
        return X
    if (files := source_of(X).files) is not None:
        return replace(files, columns=list(names))
    frame = as_frame(X)
    return X[list(names)] if frame is None else frame.select(list(names)).to_native()


def _select_coding(coding: Coding, names: tuple[str, ...]) -> Coding:
    places = [coding.names.index(name) for name in names]
    return Coding(
        names,
        tuple(coding.kinds[i] for i in places),
        tuple(coding.labels[i] for i in places),
        tuple(coding.sentences[i] for i in places),
    )


def _clip_to_plan(plan: Plan) -> Callable[[Block], Block]:
    """A function that maps a block to the columns and ranges of the plan.

    Values are clipped to their ranges, numbers that are none of a column's values are gaps, and
    rows longer than the norm for noise are shortened towards the origin.
    """
    low, high = plan.each("low"), plan.each("high")
    origin, scale = plan.each("origin"), plan.each("scale")
    levels = [column.levels for column in plan.columns]
    norm = None if plan.noise is None else plan.noise.norm

    def agreed(block: Block) -> Block:
        values, observed = block.values, block.observed
        for i, own in enumerate(levels):
            if len(own):
                some = np.isin(np.clip(values[:, i], low[i], high[i]), own)
                observed = observed.copy() if not some.all() else observed
                observed[:, i] &= some
        values = np.clip(values, low, high) * observed
        if norm is not None:
            values = _clip_norm(values, observed, origin, scale, norm)
        return Block(values, observed, block.weights, block.start, block.sequence)

    return agreed


def _clip_norm(
    values: Array, observed: np.ndarray[Any, Any], origin: Array, scale: Array, norm: float
) -> Array:
    deviations = (values - origin) / scale * observed
    length = np.sqrt((deviations**2).sum(axis=1, keepdims=True))
    shrunk = deviations * np.minimum(1.0, norm / np.maximum(length, 1e-300))
    shortened: Array = (origin + shrunk * scale) * observed
    return shortened


def _synthetic_rows(plan: Plan, levels: Array) -> MemoryRows:
    """A table with one cell a row that shows the columns of a plan.

    Each value of a column as often as ``levels`` (l,) count it in all places, and quantiles of a
    bell of the planned origin and scale where a column holds numbers.
    """
    d, cells, weights, at = len(plan.columns), [], [], 0
    bell = ndtri((np.arange(N_QUANTILES) + 0.5) / N_QUANTILES)
    for i, column in enumerate(plan.columns):
        values = column.levels
        if len(values):
            often = levels[at : at + len(values)]
            at += len(values)
        else:
            values = np.clip(column.origin + column.scale * bell, column.low, column.high)
            often = np.ones(len(values))
        rows = np.full((len(values), d), np.nan)
        rows[:, i] = values
        cells.append(rows)
        weights.append(often)
    table, counts = np.vstack(cells), np.concatenate(weights)
    return MemoryRows(table[counts > 0], plan.names, counts[counts > 0])
