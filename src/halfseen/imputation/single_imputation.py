"""The fitted imputation model: expected values of missing cells."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.engines.memory import MemoryRows
from halfseen.data.rows import Block, gathered, with_gaps
from halfseen.distributions.column_kinds import those
from halfseen.distributions.mixed import Mixed
from halfseen.imputation import mixtures, regressions, ridge
from halfseen.imputation.features import Layout, View
from halfseen.imputation.gaussian_mixtures import NormalEnsembles, learn_normal_ensembles
from halfseen.imputation.mixtures import BEFORE, Ensemble
from halfseen.imputation.regressions import Regression
from halfseen.imputation.time_budget import TimeBudget
from halfseen.io.coding import Coding
from halfseen.models.latent_class import LatentClass
from halfseen.moments.survey import Survey

BEYOND = 1.0
"""Times as wide as what is between the fences, on each side of them."""


@dataclass(frozen=True, eq=False)
class SingleImputation:
    """Classes, and regressions of each column on the others beside them."""

    ensemble: Ensemble
    normals: NormalEnsembles
    layout: Layout
    regressions: tuple[Regression, ...]
    narrower: Array  # (d,)  what regressions err, in squares, by what the classes expect to
    spikes: Array  # (d,)    a number that many cells hold exactly, NaN if there is none
    ordered: Mask  # (d,)    columns whose levels are numbers in an order

    @property
    def view(self) -> View:
        """The view of the columns as features."""
        return self.layout.view

    @property
    def explained(self) -> Array:
        """The relative reduction of held-out error of each column.

        From 0 to 1: of squares, or of log-loss; NaN where that was not tried; (d,).
        """
        found = np.full(len(self.view.numbers), np.nan)
        for one in self.regressions:
            shares = np.maximum(self.layout.middle[self.view.targets(one.column)], 1e-9)
            at_most = 1.0 if one.more is not None else -float(shares @ np.log(shares))
            found[one.column] = np.clip(1 - one.error / max(at_most, 1e-9), 0, 1)
        return found

    def targets(self, block: Block) -> Array:
        """Of the gaps of a block: deviations of numbers, probabilities of levels; (n, q)."""
        table = with_gaps(block)
        known, before = self.view.known(table), self.ensemble.features(block)
        others = predictions_of_normals(self.view, self.normals, table)
        features = self.layout(table, known)
        return predicted(self.view, self.regressions, features, known, before, others)

    def fills(self, block: Block, possible: bool) -> tuple[Array, Array]:
        """Fills of cells and their standard deviations; (n, d) each.

        Of a number the spread is that of the classes, as much narrower as regressions err less; of
        a level it is the probability of all others. Levels that are numbers get the median and, if
        what is not ``possible`` will do, their mean.
        """
        view, found = self.view, self.targets(block)
        spread = np.sqrt(self.ensemble.variances(block) * self.narrower)
        mean = np.empty(spread.shape)
        for j in range(len(view.numbers)):
            own = found[:, view.targets(j)]
            if view.numbers[j]:
                mean[:, j] = view.value(j, own[:, 0])
                spread[:, j] *= view.spread[j]
            elif self.ordered[j]:
                likely = own / own.sum(axis=1, keepdims=True)
                mean[:, j], spread[:, j] = moments(likely, view.levels[j])
                if possible:
                    mean[:, j] = medians(likely, view.levels[j])
            else:
                mean[:, j] = view.levels[j][own.argmax(axis=1)]
                spread[:, j] = 1 - np.minimum(own.max(axis=1), 1.0)
        return mean, spread


def moments(likely: Array, levels: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of values with probabilities ``likely`` (n, l); (n,) each."""
    mean = likely @ levels
    return mean, np.sqrt((likely * (levels - mean[:, None]) ** 2).sum(axis=1))


def medians(likely: Array, levels: Array) -> Array:
    """The median of values with probabilities ``likely`` (n, l); (n,)."""
    place = (likely.cumsum(axis=1) < 0.5 - 1e-9).sum(axis=1)
    found: Array = levels[np.minimum(place, len(levels) - 1)]
    return found


def predictions_of_normals(view: View, normals: NormalEnsembles, table: Array) -> Array:
    """Predictions of each number given the others of its row, by normal mixtures; (e, n, d)."""
    found = np.zeros((len(normals.normals), *table.shape))
    found[:, :, view.numbers] = normals.without_each(view.deviations(table))
    return found


def predicted(
    view: View,
    regressions: Sequence[Regression],
    features: Array,
    known: Mask,
    before: Array,
    normals: Array,
) -> Array:
    """Regression predictions of gaps, given class predictions ``before`` (n, q); (n, q).

    ``normals`` (e, n, d) are predictions of numbers.
    """
    found = before.copy()
    for one in regressions:
        own, gaps = view.targets(one.column), ~known[:, one.column]
        more = 0.0 if one.weights is None else features[gaps] @ one.weights
        if one.more is not None:
            sources = np.column_stack([before[gaps, own], *normals[:, gaps, one.column]])
            found[gaps, own] = before[gaps, own] + more + (sources @ one.more)[:, None]
            if one.alone is not None and np.isfinite(one.reach):
                # Regressions know nothing of rows in which far more is missing than in theirs.
                out = one.lacking(~known[gaps][:, view.owner]) > one.reach + 1e-9
                alone = before[gaps, own] + (sources @ one.alone)[:, None]
                found[gaps, own] = np.where(out[:, None], alone, found[gaps, own])
        else:
            found[gaps, own] = ridge.softmax(ridge.log_probabilities(before[gaps, own]) + more)
    return found


def view_of(rows: MemoryRows, kept: Survey, emission: Mixed) -> View:
    """How regressions see the columns of a table that was looked through."""
    facts = emission.looked_through
    n_levels = np.isfinite(facts.level_values).sum(axis=0)
    levels = tuple(facts.level_values[:n, j] for j, n in enumerate(n_levels))
    return View.of(rows.table, levels, *_limits(kept, emission))


def _limits(kept: Survey, emission: Mixed) -> Array:
    """Limits of numbers: beyond the outlier limits, but not far beyond."""
    low, high = emission.limits(kept)
    room = BEYOND * (high - low)
    return np.array([low - room, high + room])


class CrossFitted(NamedTuple):
    """A model of all rows, and for each fold a model of the other rows."""

    of_all_rows: SingleImputation
    by_fold: dict[int, SingleImputation]
    folds: NDArray[np.intp]  # (n,)


def learned(
    rows: MemoryRows, kept: Survey, classes: LatentClass, seed: int, budget: TimeBudget
) -> CrossFitted:
    """Learn from the ``rows`` of columns that vary: classes, then regressions."""
    plain = cast("Mixed", classes._model().emission)
    emission = replace(plain, prior_rows=BEFORE).for_table(rows, kept)
    view = view_of(rows, kept, emission)
    alone = mixtures.one_class(rows, kept, emission)
    learn = mixtures.Learner(emission, alone, view, seed, budget)
    ensemble, folds = learn(rows), regressions.folds_of(len(rows.table), seed)
    ensembles = learn.by_fold(rows, ensemble, folds)
    before = mixtures.held_out(rows, ensembles, folds)
    known = view.known(rows.table)
    layout = Layout.of(view, rows.table, np.flatnonzero(~known.all(axis=0)))
    normals = learn_normal_ensembles(view.deviations(rows.table), folds, seed, budget)
    others = np.zeros((len(normals.normals), *rows.table.shape))
    others[:, :, view.numbers] = normals.held_out
    features = layout(rows.table, known)
    found = regressions.learned(layout, features, before, others, known, folds, budget)
    variance = np.where(known, gathered(rows, ensemble.variances), np.nan)
    narrower = np.ones(len(view.numbers))
    for one in found:
        if view.numbers[one.column]:
            narrower[one.column] = one.error / np.nanmean(variance[:, one.column])
    ordered = _ordered(emission, rows.names, classes.coding_)
    every = SingleImputation(
        *(ensemble, normals.of_all_rows, layout, tuple(one.of_all_rows for one in found)),
        *(narrower, _spikes(emission), ordered),
    )
    apart = {
        fold: replace(
            every,
            ensemble=own,
            normals=normals.without_fold(fold),
            regressions=tuple(one.without_fold(fold) for one in found),
        )
        for fold, own in ensembles.items()
    }
    return CrossFitted(every, apart, folds)


def _ordered(emission: Mixed, names: tuple[str, ...], coding: Coding) -> Mask:
    """Categorical columns whose values are numbers."""
    labels = dict(zip(coding.names, coding.labels, strict=True))
    kinds = emission.looked_through.kinds
    numbers = np.array([not labels[name] for name in names], dtype=bool)
    return numbers & those(kinds, "has_values") & ~those(kinds, "nominal")


def _spikes(emission: Mixed) -> Array:
    """The frequent number of each column, NaN without one."""
    numbers = those(emission.looked_through.kinds, "normal")
    found = np.full(len(numbers), np.nan)
    if emission.normal.seen is not None and numbers.any():
        found[numbers] = emission.normal.seen.spike
    return found
