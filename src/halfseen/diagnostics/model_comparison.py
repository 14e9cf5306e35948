"""Which of several models of the same rows held-out rows prefer: the simplest, unless clearly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Mask
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block, Rows
from halfseen.data.sampling import sample_binned
from halfseen.diagnostics.choice_explanation import counted
from halfseen.diagnostics.cross_validation import (
    N_FOLDS,
    CrossScores,
    bins_for,
    of_models_not_kept,
)
from halfseen.inference.fit import fit_rows
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings
from halfseen.moments.survey import Survey, survey

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


class Part(NamedTuple):
    """All rows but a third of them."""

    apart: Mask  # (g,)  the bins of that third
    rows: Rows
    seen: Survey


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
        """On some of the rows, if there are many."""
        few = sample_binned(rows, bins_for(None, rows), MOST_ROWS)
        return cls(settings, few.rows, few.bins, scored)

    @cached_property
    def _parts(self) -> list[Part]:
        folds = np.arange(self.bins.n) % N_FOLDS
        return [self._part(folds == fold) for fold in range(N_FOLDS)]

    def _part(self, apart: Mask) -> Part:
        rows = reweighted(self.rows, self.bins, (~apart).astype(float))
        return Part(apart, rows, survey(rows, self.settings.complete_above))

    def scores(self, one: Candidate) -> CrossScores:
        """Of all rows, under fits that did not see them; each candidate is fitted once."""
        known = one.name, one.n_components
        if known not in self._found:
            first, *others = (self._scores(one, part) for part in self._parts)
            self._found[known] = sum(others, start=first)
        return self._found[known]

    def _scores(self, one: Candidate, part: Part) -> CrossScores:
        with of_models_not_kept():
            fit = fit_rows(
                self.settings, one.model, part.rows, part.seen, one.n_components, Stages()
            )
        return self.rows.accumulate(
            _scored(one.model, fit.parameters, self.bins, part, self.scored)
        )

    def preferred(self, candidates: Sequence[Candidate]) -> Preferred:
        """The simplest of the ``candidates``, which come so, that no other clearly beats."""
        if len(candidates) == 1 or not self.scored.any():
            said = ("columns of few values cannot tell others", "no other was tried")
            return Preferred(0, candidates[0].name + f": {said[int(self.scored.any())]}.")
        scores = [self.scores(one) for one in candidates]
        total = np.column_stack([one.total for one in scores])
        return judged(candidates, CrossScores(scores[0].n_rows, total))


def judged(candidates: Sequence[Candidate], scores: CrossScores) -> Preferred:
    """The choice, from scores of held-out rows, and its sentence."""
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
    """With their numbers of components, if these differ."""
    if len({one.n_components for one in candidates}) == 1:
        return [one.name for one in candidates]
    return [one.name + f" with {counted(one.n_components)}" for one in candidates]


def _scored(
    model: Model[Any], parameters: Any, bins: Bins, part: Part, scored: Mask
) -> Callable[[Block], CrossScores]:
    def summarise(block: Block) -> CrossScores:
        labels = bins.of(block)
        chosen = np.flatnonzero(part.apart[labels])
        unseen, label = block.rows(chosen), labels[chosen]
        unseen = unseen.without(*np.nonzero(unseen.observed & ~scored)).select(part.seen.kept)
        weights = unseen.row_weights()
        scores = unseen.weighed(model.log_likelihood(unseen, parameters))
        return CrossScores(
            np.bincount(label, weights, minlength=bins.n).astype(float),
            np.bincount(label, scores, minlength=bins.n)[:, None].astype(float),
        )

    return summarise
