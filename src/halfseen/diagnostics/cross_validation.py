"""Several fits compared by how likely they find rows that they were not learned from."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.errors import WeakMomentsWarning
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sequence_of
from halfseen.data.sums import Sums
from halfseen.inference.fit import Fit
from halfseen.inference.model import Model
from halfseen.moments.survey import Survey, survey

P = TypeVar("P")
N_FOLDS = 3
Fitting = Callable[[Rows, Survey], Fit[P]]


@dataclass(frozen=True, eq=False)
class CrossScores(Sums):
    """Log-likelihoods of held-out rows under several models, summed in bins."""

    n_rows: Array  # (g,)
    total: Array  # (g, c)

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
    part = reweighted(rows, bins, 1.0 - apart)
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
        weights = part.row_weights()
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


FEWEST_GROUPS = 10


def bins_for(groups: Any, rows: Rows, sample_weight: Any = None) -> Bins:
    """Bins of the rows, or of whole groups if ``groups`` (n,) has a label for each row.

    Rows that follow each other are in the bins of their sequences.

    Rows of no weight are not among ``rows``, but have their labels.
    """
    if groups is None:
        return Bins.of_sequences(sequence_of(rows)) if rows.sequenced else _of_rows(rows)
    labels = np.asarray(groups)
    place = rows.place
    n_rows = rows.accumulate(len) if sample_weight is None else len(sample_weight)
    n_rows = n_rows if place is None else len(place)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups must hold one label a row, {n_rows} in all. Got an array of shape "
            f"{labels.shape} instead."
        )
    if sample_weight is not None:
        labels = labels[np.asarray(sample_weight) > 0]
    if any(map(_is_missing, labels.tolist())):
        raise ValueError(
            "Some labels in groups are missing. Give rows that belong to no group a label of "
            "their own."
        )
    bins = Bins.of_groups(labels if place is None else _in_place(labels, place, rows))
    if bins.n < FEWEST_GROUPS:
        raise ValueError(
            f"groups has {bins.n} different labels, too few to tell how much groups differ. It "
            f"needs at least {FEWEST_GROUPS}; leave groups out if rows are independent."
        )
    return bins


def _in_place(labels: Any, place: Any, rows: Rows) -> Any:
    """Labels of rows that were put in order: those between have that of the row before them."""
    numbers = np.zeros(rows.accumulate(len), dtype=np.intp)
    numbers[place] = np.arange(len(place))
    given = np.zeros(len(numbers), dtype=np.intp)
    given[place] = place
    return labels[numbers[np.maximum.accumulate(given)]]


def _of_rows(rows: Rows) -> Bins:
    return Bins.of_rows(rows.accumulate(len))


def _is_missing(label: Any) -> bool:
    """None, NaN, and what will not even say whether it equals itself, as pandas' NA."""
    same = label == label
    return label is None or not isinstance(same, bool | np.bool_) or not same
