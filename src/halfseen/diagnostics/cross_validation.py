"""Cross-validation: models compared by the likelihood of held-out rows."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import WeakMomentsWarning
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_binned, sequence_of
from halfseen.data.sums import Sums
from halfseen.inference.fit import Fit, fit_rows
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings
from halfseen.moments.survey import Survey, survey

P = TypeVar("P")
N_FOLDS = 3  # fits are dear; two thirds of the rows are enough to compare models
Fitting = Callable[[Rows, Survey], Fit[P]]


@dataclass(frozen=True, eq=False)
class CrossScores(Sums):
    """Log-likelihoods of held-out rows under several models, summed in bins."""

    n_rows: Array  # (g,)
    total: Array  # (g, c)

    def mean(self, candidate: int) -> float:
        return float(self.total[:, candidate].sum() / self.n_rows.sum())

    def gain(self, candidate: int, reference: int) -> tuple[float, float]:
        """The mean gain a row of one model over another, and its standard error."""
        gains = self.total[:, candidate] - self.total[:, reference]
        n_rows, n_bins = self.n_rows.sum(), np.count_nonzero(self.n_rows)
        gain = gains.sum() / n_rows
        scatter = np.sum((gains - gain * self.n_rows) ** 2) * n_bins / max(n_bins - 1, 1)
        return float(gain), float(np.sqrt(scatter) / n_rows)


class TrainingRows(NamedTuple):
    """All rows but the held-out ones."""

    apart: Mask  # (g,)  the bins that are held out
    rows: Rows
    seen: Survey


def folds(complete_above: float, rows: Rows, bins: Bins) -> Iterator[TrainingRows]:
    """Each third of the bins held out in turn."""
    fold = np.arange(bins.n) % N_FOLDS
    for one in range(N_FOLDS):
        others = reweighted(rows, bins, (fold != one).astype(float))
        yield TrainingRows(fold == one, others, survey(others, complete_above))


def cross_scores(
    complete_above: float, rows: Rows, model: Model[P], bins: Bins, fittings: Sequence[Fitting[P]]
) -> CrossScores:
    """Log-likelihoods of each third of the rows under models of the other two thirds."""

    def scores(part: TrainingRows) -> CrossScores:
        n_rows, most = part.seen.sums.n_rows, model.abilities.scored_rows
        # One row in so many, and so in every bin, if likelihoods are slow.
        wanted = n_rows if most is None else most
        stride = max(1, int(n_rows // (N_FOLDS - 1) // max(wanted // N_FOLDS, 1)))
        with of_models_not_kept():
            fits = [fitting(part.rows, part.seen).parameters for fitting in fittings]
            return rows.accumulate(held_out_scores(model, fits, bins, part, stride))

    first, *others = map(scores, folds(complete_above, rows, bins))
    return sum(others, start=first)


def held_out_scores(
    model: Model[P],
    fits: Sequence[P],
    bins: Bins,
    part: TrainingRows,
    stride: int = 1,
    scored: Mask | None = None,
) -> Callable[[Block], CrossScores]:
    """The function that sums log-likelihoods of a block's held-out rows, one in ``stride``.

    Of the cells of ``scored`` features (d,), or of all.
    """

    def summarise(block: Block) -> CrossScores:
        labels = bins.of(block)
        turn = (block.start + np.arange(len(block))) // bins.n
        chosen = np.flatnonzero(part.apart[labels] & (turn % stride == 0))
        unseen, label = block.rows(chosen), labels[chosen]
        if scored is not None:
            unseen = unseen.without(*np.nonzero(unseen.observed & ~scored))
        unseen = unseen.select(part.seen.kept)
        weights = unseen.row_weights()
        scores = [unseen.weighed(model.log_likelihood(unseen, one)) for one in fits]
        return CrossScores(
            np.bincount(label, weights, minlength=bins.n).astype(float),
            np.column_stack([np.bincount(label, score, minlength=bins.n) for score in scores]),
        )

    return summarise


@contextmanager
def of_models_not_kept() -> Iterator[None]:
    """Silence warnings of models that are only compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WeakMomentsWarning)
        yield


FEWEST_GROUPS = 10  # fewer tell too little of how much groups differ


def bins_for(groups: Any, rows: Rows, sample_weight: Any = None) -> Bins:
    """Bins of the rows, or of whole groups if ``groups`` (n,) has a label for each row.

    Rows that follow each other are in the bins of their sequences.

    Rows of no weight are not among ``rows``, but have their labels.
    """
    if groups is None:
        return (
            Bins.of_sequences(sequence_of(rows))
            if rows.sequenced
            else Bins.of_rows(rows.accumulate(len))
        )
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
    """Labels of rows that were sorted; inserted rows take the label before them."""
    numbers = np.zeros(rows.accumulate(len), dtype=np.intp)
    numbers[place] = np.arange(len(place))
    given = np.zeros(len(numbers), dtype=np.intp)
    given[place] = place
    return labels[numbers[np.maximum.accumulate(given)]]


def _is_missing(label: Any) -> bool:
    """Whether a label is None, NaN or pandas' NA."""
    same = label == label
    return label is None or not isinstance(same, bool | np.bool_) or not same


MAX_COMPARED_ROWS = 6000
"""Rows that models are compared on: more tell no more, only more slowly."""
MANY_ROWS = 1000  # from which on one standard error is enough
CLEARLY, WITH_FEW_ROWS = 1.0, 2.0
"""Standard errors that a richer model must gain, and with fewer rows than many."""


class Candidate(NamedTuple):
    """A model to compare."""

    name: str
    model: Model[Any]
    n_components: int


class Preferred(NamedTuple):
    """The index of the preferred candidate, and the reason."""

    place: int
    reason: str


@dataclass(frozen=True, eq=False)
class Comparison:
    """Rows, each third of which is scored under fits to the others."""

    settings: Settings
    rows: Rows
    bins: Bins
    scored: Mask  # (d,)  the features whose cells are
    _found: dict[tuple[str, int], CrossScores] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings, rows: Rows, scored: Mask) -> "Comparison":
        few = sample_binned(rows, bins_for(None, rows), MAX_COMPARED_ROWS)
        return cls(settings, few.rows, few.bins, scored)

    @cached_property
    def _folds(self) -> list[TrainingRows]:
        return list(folds(self.settings.complete_above, self.rows, self.bins))

    def scores(self, one: Candidate) -> CrossScores:
        """Held-out log-likelihoods of all rows under each candidate."""
        known = one.name, one.n_components
        if known not in self._found:
            first, *others = (self._scores(one, part) for part in self._folds)
            self._found[known] = sum(others, start=first)
        return self._found[known]

    def _scores(self, one: Candidate, part: TrainingRows) -> CrossScores:
        with of_models_not_kept():
            fit = fit_rows(
                self.settings, one.model, part.rows, part.seen, one.n_components, Stages()
            )
        return self.rows.accumulate(
            held_out_scores(one.model, [fit.parameters], self.bins, part, scored=self.scored)
        )

    def preferred(self, candidates: Sequence[Candidate]) -> Preferred:
        """The simplest of the ``candidates``, in order, that no other clearly beats."""
        if len(candidates) == 1 or not self.scored.any():
            said = ("columns of few values cannot tell others", "no other was tried")
            return Preferred(0, candidates[0].name + f": {said[int(self.scored.any())]}.")
        scores = [self.scores(one) for one in candidates]
        total = np.column_stack([one.total for one in scores])
        return judged(candidates, CrossScores(scores[0].n_rows, total))


def judged(candidates: Sequence[Candidate], scores: CrossScores) -> Preferred:
    """The choice by held-out scores, and its sentence."""
    enough = CLEARLY if scores.n_rows.sum() >= MANY_ROWS else WITH_FEW_ROWS
    place = 0
    for other in range(1, len(candidates)):
        gain, error = scores.gain(other, place)
        if gain > enough * error:
            place = other
    names = _named(candidates)
    if place:
        gain, error = scores.gain(place, 0)
        return Preferred(
            place,
            names[place]
            + ": held-out rows are more likely than with "
            + names[0]
            + f", by {gain:.3g} ± {error:.2g} a row.",
        )
    best = max(range(1, len(names)), key=scores.mean)
    gain, error = scores.gain(best, 0)
    return Preferred(
        0,
        names[0]
        + ": nothing richer makes held-out rows clearly more likely ("
        + names[best]
        + f" by {gain:+.3g} ± {error:.2g} a row).",
    )


def _named(candidates: Sequence[Candidate]) -> list[str]:
    if len({one.n_components for one in candidates}) == 1:
        return [one.name for one in candidates]
    return [
        one.name + f" with {one.n_components} component{'s' * (one.n_components != 1)}"
        for one in candidates
    ]
