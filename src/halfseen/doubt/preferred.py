"""Which of several models of the same rows held-out rows prefer: the simplest, unless clearly."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from halfseen.doubt.clusters import bins_for
from halfseen.doubt.cross_scores import N_FOLDS, CrossScores, of_models_not_kept
from halfseen.doubt.few_rows import few_rows
from halfseen.method.fit import fit_rows
from halfseen.method.model import Model
from halfseen.method.plan import Settings
from halfseen.moments.survey import survey
from halfseen.rows.arrays import Mask
from halfseen.rows.bins import Bins
from halfseen.rows.engines.reweighted import ReweightedRows
from halfseen.rows.rows import Block, Rows
from halfseen.rows.stages import Stages

MOST_ROWS = 6000
"""More rows than this do not make the comparison say more, only slower."""
MANY_ROWS = 1000
CLEARLY, WITH_FEW_ROWS = 1.0, 2.0
"""Standard errors that a richer model must gain, and with fewer rows than many."""


class Candidate(NamedTuple):
    """A model, for fits that are only compared."""

    name: str
    model: Model[Any]
    n_components: int


class Preferred(NamedTuple):
    """The place of the candidate that is preferred, and what speaks for it."""

    place: int
    reason: str


def preferred(
    candidates: Sequence[Candidate], settings: Settings, rows: Rows, scored: Mask
) -> Preferred:
    """The simplest of the ``candidates``, which come simplest first, that no other clearly beats.

    Each third of the rows is scored under fits to the others, by cells of the ``scored`` features.
    """
    if len(candidates) == 1 or not scored.any():
        why = "no other was tried" if scored.any() else "columns of few values cannot tell others"
        return Preferred(0, f"{candidates[0].name}: {why}.")
    bins = bins_for(None, rows)
    few = few_rows(rows, bins, MOST_ROWS)
    folds = np.arange(few.bins.n) % N_FOLDS
    first, *others = (
        _of_fold(candidates, settings, few.rows, few.bins, folds == fold, scored)
        for fold in range(N_FOLDS)
    )
    return judged([one.name for one in candidates], sum(others, start=first))


def judged(names: Sequence[str], scores: CrossScores) -> Preferred:
    """The choice, from scores of held-out rows, and its sentence."""
    enough = CLEARLY if scores.n_rows.sum() >= MANY_ROWS else WITH_FEW_ROWS
    place = 0
    for other in range(1, len(names)):
        gain, error = scores.gain(other, place)
        if gain > enough * error:
            place = other
    if place:
        gain, error = scores.gain(place, 0)
        return Preferred(
            place,
            f"{names[place]}: held-out rows are more likely than with {names[0]}, by {gain:.3g} ± "
            f"{error:.2g} a row.",
        )
    best = max(range(1, len(names)), key=scores.mean)
    gain, error = scores.gain(best, 0)
    return Preferred(
        0,
        f"{names[0]}: nothing richer makes held-out rows clearly more likely ({names[best]} by "
        f"{gain:+.3g} ± {error:.2g} a row).",
    )


def _of_fold(
    candidates: Sequence[Candidate],
    settings: Settings,
    rows: Rows,
    bins: Bins,
    apart: Mask,
    scored: Mask,
) -> CrossScores:
    part = ReweightedRows(rows, bins, (~apart).astype(float))
    seen = survey(part, settings.complete_above)
    with of_models_not_kept():
        fits = [
            fit_rows(settings, one.model, part, seen, one.n_components, Stages()).parameters
            for one in candidates
        ]
    models = [one.model for one in candidates]
    return rows.accumulate(_scored(models, fits, bins, apart, seen.kept, scored))


def _scored(
    models: Sequence[Model[Any]],
    fits: Sequence[Any],
    bins: Bins,
    apart: Mask,
    kept: Mask,
    scored: Mask,
) -> Callable[[Block], CrossScores]:
    def summarise(block: Block) -> CrossScores:
        labels = bins.of(block)
        chosen = np.flatnonzero(apart[labels])
        part, label = block.rows(chosen), labels[chosen]
        part = part.without(*np.nonzero(part.observed & ~scored)).select(kept)
        weights = part.weighed(np.ones(len(part)))
        scores = [
            part.weighed(model.log_likelihood(part, one))
            for model, one in zip(models, fits, strict=True)
        ]
        return CrossScores(
            np.bincount(label, weights, minlength=bins.n).astype(float),
            np.column_stack([np.bincount(label, score, minlength=bins.n) for score in scores]),
        )

    return summarise
