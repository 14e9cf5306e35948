"""Several fits compared by how likely they find rows that they were not learned from."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np

from halfseen.method.fit import Fit
from halfseen.method.model import Model
from halfseen.moments.survey import Survey, survey
from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.engines.reweighted import ReweightedRows
from halfseen.rows.errors import WeakMomentsWarning
from halfseen.rows.rows import Block, Rows

P = TypeVar("P")
N_FOLDS = 3
Fitting = Callable[[Rows, Survey], Fit[P]]


@dataclass(frozen=True, eq=False)
class CrossScores:
    """Log-likelihoods of held-out rows under several models, summed in bins."""

    n_rows: Array  # (g,)
    total: Array  # (g, c)

    def __add__(self, other: Self) -> Self:
        return type(self)(self.n_rows + other.n_rows, self.total + other.total)

    def mean(self, candidate: int) -> float:
        """Mean log-likelihood of the rows under one model."""
        return float(self.total[:, candidate].sum() / self.n_rows.sum())

    def gain(self, candidate: int, reference: int) -> tuple[float, float]:
        """What a row gains in the mean under one model rather than another; its standard error."""
        gains = self.total[:, candidate] - self.total[:, reference]
        n_rows, n_bins = self.n_rows.sum(), np.count_nonzero(self.n_rows)
        gain = gains.sum() / n_rows
        scatter = np.sum((gains - gain * self.n_rows) ** 2) * n_bins / max(n_bins - 1, 1)
        return float(gain), float(np.sqrt(scatter) / n_rows)


def cross_scores(
    complete_above: float, rows: Rows, model: Model[P], bins: Bins, fittings: Sequence[Fitting[P]]
) -> CrossScores:
    """Each third of the rows under models learned from the other two; bins are not divided."""
    folds = np.arange(bins.n) % N_FOLDS
    return sum(
        (
            _scores_of_fold(complete_above, rows, model, bins, fittings, folds == fold)
            for fold in range(1, N_FOLDS)
        ),
        start=_scores_of_fold(complete_above, rows, model, bins, fittings, folds == 0),
    )


def _scores_of_fold(
    complete_above: float,
    rows: Rows,
    model: Model[P],
    bins: Bins,
    fittings: Sequence[Fitting[P]],
    apart: Array,
) -> CrossScores:
    part = ReweightedRows(rows, bins, 1.0 - apart)
    seen = survey(part, complete_above)
    with of_models_not_kept():
        fits = [fitting(part, seen).parameters for fitting in fittings]
        return rows.accumulate(_scored(model, bins, apart, fits, seen))


def _scored(
    model: Model[P], bins: Bins, apart: Array, fits: Sequence[P], seen: Survey
) -> Callable[[Block], CrossScores]:
    # One row in so many, and so in every bin, if likelihoods are slow.
    most = model.abilities.scored_rows
    wanted = seen.sums.n_rows if most is None else most
    stride = max(1, int(seen.sums.n_rows // (N_FOLDS - 1) // max(wanted // N_FOLDS, 1)))

    def summarise(block: Block) -> CrossScores:
        labels = bins.of(block)
        turn = (block.start + np.arange(len(block))) // bins.n
        chosen = np.flatnonzero(apart[labels] & (turn % stride == 0))
        part = block.rows(chosen).select(seen.kept)
        weights = part.weighed(np.ones(len(part)))
        scores = [part.weighed(model.log_likelihood(part, one)) for one in fits]
        label = labels[chosen]
        return CrossScores(
            np.bincount(label, weights, minlength=bins.n).astype(float),
            np.column_stack([np.bincount(label, score, minlength=bins.n) for score in scores]),
        )

    return summarise


@contextmanager
def of_models_not_kept() -> Iterator[None]:
    """What is wrong with models that are only compared shows in the comparison."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        yield
