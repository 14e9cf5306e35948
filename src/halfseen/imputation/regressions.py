"""Regressions of each column on the others, beyond what mixtures predict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from halfseen.data.arrays import Array, Mask
from halfseen.imputation import ridge
from halfseen.imputation.features import Layout
from halfseen.imputation.ridge import (
    PENALTIES,
    USUAL,
    Grams,
    Sums,
    held_out_errors,
    held_out_solutions,
    search_penalty,
    solved,
    squares_left,
)
from halfseen.imputation.time_budget import TimeBudget

N_FOLDS, OF_FEW, FEW = 3, 6, 500
"""In which rows are held out in turn; more of few rows, as two thirds of those tell much less."""
OFFSET = 1.0
"""The penalty of departing from the predictions of mixtures, beside that of other features."""
USUALLY = 0.95
"""Share of the rows that were learned from in which no more was lacking."""
FEWEST = 10
"""Rows in which a column is known, from which on it is regressed."""


@dataclass(frozen=True, eq=False)
class Regression:
    """Coefficients of one column on the features of the others."""

    column: int
    weights: Array | None  # (p, t)   zero for its own features; None if it is not regressed
    more: Array | None  # (1 + e,)    of a number: how much more of what classes and others say
    penalty: float
    error: float  # mean squared error, or log-loss, of held-out rows
    error_before: float  # the same of what classes say alone
    alone: Array | None = None  # (1 + e,)  the same as ``more``, without the features
    reach: float = np.inf  # how much of the features, by coefficients, may be gaps
    by_fold: tuple["Regression", ...] = ()  # learned without that fold; none if all are alike

    def without_fold(self, fold: int) -> "Regression":
        """The coefficients fitted without one fold."""
        return self.by_fold[fold] if self.by_fold else self

    @property
    def of_all_rows(self) -> "Regression":
        """The regression without its fits by fold, to save memory."""
        return replace(self, by_fold=())

    def lacking(self, unknown: Mask) -> Array:
        """The share of squared coefficients on ``unknown`` features (n, q); (n,)."""
        if self.weights is None:
            return np.zeros(len(unknown))
        squares = (self.weights[: unknown.shape[1]] ** 2).sum(axis=1)
        found: Array = unknown @ (squares / max(float(squares.sum()), 1e-300))
        return found


def folds_of(n_rows: int, seed: int) -> NDArray[np.intp]:
    """The fold of each row."""
    found = np.arange(n_rows) % (OF_FEW if n_rows < FEW else N_FOLDS)
    np.random.default_rng(seed).shuffle(found)
    return found.astype(np.intp)


class Task(NamedTuple):
    """Predictors of columns beside features."""

    grams: Grams
    known: Mask  # (n, d)
    before: Array  # (n, q)      what classes say of targets
    normals: Array  # (e, n, d)  what others say of numbers

    def predictions(self, j: int, target: int) -> Array:
        """Predictions of a number: by classes, then by normal mixtures; (n, 1 + e)."""
        return np.column_stack([self.before[:, target], *self.normals[:, :, j]])

    def stacking_weights(self, layout: Layout, columns: list[int]) -> dict[int, Array]:
        """Weights of the predictions of each number, by column; (1 + e,) each."""
        numbers, every = [j for j in columns if layout.view.numbers[j]], []
        for j in numbers:
            rows, target = self.known[:, j], layout.view.targets(j).start
            every.append(
                StackingSums.of(
                    self.predictions(j, target)[rows], self.grams.features[rows, target]
                )
            )
        return dict(zip(numbers, stacking_weights(every), strict=True))


def learned(
    layout: Layout,
    features: Array,
    before: Array,
    normals: Array,
    known: Mask,
    folds: NDArray[np.intp],
    budget: TimeBudget,
) -> list[Regression]:
    """Regressions of all columns; ``before`` (n, q) are predictions by classes.

    ``normals`` (e, n, d) are predictions of numbers by normal mixtures.
    """
    n_folds = int(folds.max(initial=0)) + 1
    task = Task(Grams.of(features, folds, n_folds), known, before, normals)
    columns = [j for j in _in_turn(known, budget) if known[:, j].sum() >= FEWEST]
    stacking_of, found, begin = (
        task.stacking_weights(layout, columns),
        [],
        {True: USUAL, False: USUAL},
    )
    for j in columns:
        if budget.spent(0.9):
            break
        number = j in stacking_of
        others = layout.regressors(j)
        own = task.grams.over(known[:, j])[:, others[:, None], others]
        if number:
            one, begin[number] = _number(
                layout, task, own, j, others, stacking_of[j], begin[number]
            )
        else:
            one, begin[number] = _levels(layout, task, own, j, others, begin[number])
        found.append(one)
    return found


def _in_turn(known: Mask, budget: TimeBudget) -> list[int]:
    """All columns; with a time limit, those with most gaps first."""
    count = known.sum(axis=0)
    order = np.argsort(count, kind="stable") if budget.limited else np.arange(len(count))
    return [int(j) for j in order]


def _number(
    layout: Layout,
    task: Task,
    own: Array,
    j: int,
    others: NDArray[np.intp],
    stacking: Array,
    begin: int,
) -> tuple[Regression, int]:
    grams, rows = task.grams, task.known[:, j]
    start, n = layout.view.targets(j).start, int(rows.sum())
    predictions = np.where(rows[:, None], task.predictions(j, start), 0.0)
    truth = np.where(rows, grams.features[:, start], 0.0)
    left = truth - predictions @ stacking
    each = [np.flatnonzero((grams.folds == f) & rows) for f in range(grams.n_folds)]
    both = np.column_stack([predictions, left])
    with_features = np.array([(grams.features[one].T @ both[one])[others] for one in each])
    with_each_other = np.array([both[one].T @ both[one] for one in each])
    sums = Sums(
        _bordered(own, with_features[:, :, :-1], with_each_other[:, :-1, :-1]),
        np.hstack([with_features[:, :, -1], with_each_other[:, :-1, -1]]),
        with_each_other[:, -1, -1],
    )
    without = float(sums.squares.sum())
    scale = np.r_[layout.penalties[others], np.full(predictions.shape[1], OFFSET)]

    def errors(place: int) -> Array:
        return held_out_errors(sums, PENALTIES[place] * scale)

    chosen = search_penalty(lambda place: float(errors(place).sum()), without, begin)
    before = float(((truth - predictions[:, 0]) ** 2).sum()) / n
    taken = stacking - np.eye(len(stacking))[0]  # predictions are added to those of classes
    # What helps in some folds only is chance, and may be far off in rows of other gaps.
    alike = Regression(j, None, taken, np.inf, without / n, before)
    if chosen.place is None:
        return alike, begin
    penalty = float(PENALTIES[chosen.place])
    apart = held_out_solutions(sums, penalty * scale)
    if (squares_left(sums, apart) >= sums.squares).any():
        return alike, begin
    solution = solved(sums.grams.sum(axis=0), sums.products.sum(axis=0), penalty * scale)

    def regression(solution: Array) -> Regression:
        weights = np.zeros((len(layout.owner), 1))
        weights[others, 0] = solution[: len(others)]
        more, error = taken + solution[len(others) :], chosen.error / n
        found = Regression(j, weights, more, penalty, error, before, taken)
        if predictions.shape[1] == 1:
            return found
        lacking = found.lacking(~task.known[rows][:, layout.view.owner])
        return replace(found, reach=float(np.quantile(lacking, USUALLY)))

    by_fold = () if rows.all() else tuple(map(regression, apart))
    return replace(regression(solution), by_fold=by_fold), chosen.place


def _bordered(grams: Array, beside: Array, corners: Array) -> Array:
    """Gram matrices (f, p, p) extended by further features."""
    return np.block([[grams, beside], [beside.transpose(0, 2, 1), corners]])


def _levels(
    layout: Layout, task: Task, own: Array, j: int, others: NDArray[np.intp], begin: int
) -> tuple[Regression, int]:
    grams, rows = task.grams, task.known[:, j]
    n, folds, place_of = int(rows.sum()), grams.folds[rows], layout.view.targets(j)
    part = ridge.KnownRows.of(
        grams.features[np.ix_(rows, others)],
        ridge.log_probabilities(task.before[rows, place_of]),
        grams.features[rows, place_of],
    )
    total, scale = own.sum(axis=0), layout.penalties[others]
    rests = [part.rows(folds != f) for f in range(grams.n_folds)]
    heres = [part.rows(folds == f) for f in range(grams.n_folds)]
    reached: dict[int, list[Array]] = {}

    def error(place: int) -> float:
        near = min(reached, key=lambda one: abs(one - place), default=None)
        starts = [None] * grams.n_folds if near is None else reached[near]
        passes = ridge.PASSES if near is None else ridge.AGAIN
        penalty = PENALTIES[place] * scale
        reached[place] = [
            ridge.fit_softmax(rest, total - one, penalty, start, passes)
            for rest, one, start in zip(rests, own, starts, strict=True)
        ]
        return sum(one.log_loss(w) for one, w in zip(heres, reached[place], strict=True))

    without = part.log_loss(np.zeros((len(others), part.truth.shape[1])))
    chosen = search_penalty(error, without, begin)
    if chosen.place is None:
        return Regression(j, None, None, np.inf, without / n, without / n), begin
    penalty = float(PENALTIES[chosen.place])
    start = np.mean(reached[chosen.place], axis=0)

    def regression(solution: Array) -> Regression:
        weights = np.zeros((len(layout.owner), part.truth.shape[1]))
        weights[others] = solution
        return Regression(j, weights, None, penalty, chosen.error / n, without / n)

    found = regression(ridge.fit_softmax(part, total, penalty * scale, start, ridge.AGAIN))
    by_fold = () if rows.all() else tuple(map(regression, reached[chosen.place]))
    return replace(found, by_fold=by_fold), chosen.place


LIKE_ALL = 100
"""Rows' worth of all columns together that each column has beside its own."""
ROUNDING = 1e-9


class StackingSums(NamedTuple):
    """Sums for stacking several predictions of a column."""

    products: Array  # (s, s)  of predictions, over their least error
    with_truth: Array  # (s,)
    n_cells: float

    @classmethod
    def of(cls, predicted: Array, truth: Array) -> Self:
        """Sums over cells (n,) with several predictions (n, s)."""
        errors = ((predicted - truth[:, None]) ** 2).mean(axis=0)
        unit = max(float(errors.min()), ROUNDING)
        return cls(predicted.T @ predicted / unit, predicted.T @ truth / unit, float(len(truth)))

    def together(self, other: Self) -> Self:
        """Cells of both."""
        return type(self)(
            self.products + other.products,
            self.with_truth + other.with_truth,
            self.n_cells + other.n_cells,
        )

    def times(self, factor: float) -> Self:
        """The sums scaled to another number of cells."""
        return type(self)(factor * self.products, factor * self.with_truth, factor * self.n_cells)

    @property
    def weights(self) -> Array:
        """Non-negative least-squares weights (s,)."""
        n = len(self.with_truth)
        scale = max(float(np.trace(self.products)) / n, ROUNDING)
        root = np.linalg.cholesky(self.products / scale + ROUNDING * np.eye(n))
        found: Array = nnls(root.T, np.linalg.solve(root, self.with_truth / scale))[0]
        return found


def stacking_weights(columns: Sequence[StackingSums]) -> list[Array]:
    """Those of each column, which some rows' worth of all columns keep from chance."""
    if not columns:
        return []
    pooled = columns[0]
    for one in columns[1:]:
        pooled = pooled.together(one)
    usual = pooled._replace(with_truth=pooled.products @ pooled.weights)
    prior = usual.times(LIKE_ALL / pooled.n_cells)
    return [one.together(prior).weights for one in columns]
