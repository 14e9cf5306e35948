"""Split-half stability of models with hidden states."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.diagnostics.choice import HeldOut
from halfseen.diagnostics.cross_validation import (
    CrossScores,
    TrainingRows,
    held_out_scores,
    of_models_not_kept,
)
from halfseen.diagnostics.recovery import adjusted_rand, least_overlap
from halfseen.inference.fit import fit_rows
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings
from halfseen.moments.survey import survey

P = TypeVar("P")
MANY_ROWS = 1000
"""From so many rows on, two ways of halving them say as much as four."""


@dataclass(frozen=True, eq=False)
class HalfScores(Sums):
    """Scores of all rows under two fits of one half each."""

    scores: CrossScores  # each row under the fit that did not see it, one candidate
    table: Array  # (k, k)  rows by the component that either fit gives them


class Halving(NamedTuple):
    """Two fits of one half each, and their agreement."""

    said: HalfScores
    share: float  # of the smallest component of either, by its weight or by the rows it is given


@dataclass(frozen=True, eq=False)
class Trial:
    """A number of components, tried on several halvings."""

    n_components: int
    halvings: tuple[Halving, ...] = ()

    @property
    def agreement(self) -> float:
        """The mean adjusted Rand index over halvings."""
        return float(np.mean([adjusted_rand(one.said.table) for one in self.halvings]))

    @property
    def overlap(self) -> float:
        """The mean smallest overlap of matched components over halvings."""
        return float(np.mean([least_overlap(one.said.table) for one in self.halvings]))

    @property
    def smallest(self) -> float:
        """The mean share of the smallest component over halvings."""
        return float(np.mean([one.share for one in self.halvings]))

    @property
    def log_likelihood(self) -> float:
        return self._scores(len(self.halvings)).mean(0)

    def gain(self, reference: "Trial") -> tuple[float, float]:
        """The mean gain of a held-out row over another number, and its standard error."""
        n = min(len(self.halvings), len(reference.halvings))
        ours, theirs = self._scores(n), reference._scores(n)
        both = CrossScores(ours.n_rows, np.column_stack([ours.total, theirs.total]))
        return both.gain(0, 1)

    def _scores(self, n: int) -> CrossScores:
        first, *others = (one.said.scores for one in self.halvings[:n])
        return sum(others, start=first)


@dataclass(frozen=True, eq=False)
class Halves(Generic[P]):
    """Rows, and the ways to halve them.

    Bins are not divided, so rows that depend on each other are in one half.
    """

    settings: Settings
    model: Model[P]
    rows: Rows
    bins: Bins
    n_ways: int

    @cached_property
    def _parts(self) -> list[tuple[TrainingRows, TrainingRows]]:
        return [self._halves(way) for way in range(self.n_ways)]

    def _halves(self, way: int) -> tuple[TrainingRows, TrainingRows]:
        first = np.random.default_rng(way).permutation(self.bins.n) % 2 == 0

        def part(inside: Mask) -> TrainingRows:
            rows = reweighted(self.rows, self.bins, inside.astype(float))
            return TrainingRows(~inside, rows, survey(rows, self.settings.complete_above))

        return part(first), part(~first)

    def tried(self, trial: Trial, settled: Callable[[Trial], bool]) -> Trial:
        """A trial continued on further halvings until the decision is clear."""
        for parts in self._parts[len(trial.halvings) :]:
            if trial.halvings and settled(trial):
                break
            halving = self._halving(trial.n_components, *parts)
            trial = replace(trial, halvings=(*trial.halvings, halving))
        return trial

    def _halving(self, n_components: int, one: TrainingRows, other: TrainingRows) -> Halving:
        with of_models_not_kept():
            first, second = (
                fit_rows(
                    self.settings, self.model, part.rows, part.seen, n_components, Stages()
                ).parameters
                for part in (one, other)
            )
            said = self.rows.accumulate(
                _scores_and_states(self.model, self.bins, (one, other), (first, second))
            )
        given = said.table / said.table.sum()
        shares = [float(self.model.shares(fit).min()) for fit in (first, second)]
        shares += [float(given.sum(axis=axis).min()) for axis in (0, 1)]
        return Halving(said, min(shares))


def _scores_and_states(
    model: Model[P], bins: Bins, parts: tuple[TrainingRows, TrainingRows], fits: tuple[P, P]
) -> Callable[[Block], HalfScores]:
    most = model.abilities.scored_rows
    n_rows = sum(part.seen.sums.n_rows for part in parts)
    # One row in so many, and so in every bin, if likelihoods are slow.
    stride = 1 if most is None else max(1, int(n_rows // most))
    scores = [
        held_out_scores(model, [fit], bins, part, stride)
        for fit, part in zip(fits, parts, strict=True)
    ]

    def summarise(block: Block) -> HalfScores:
        turn = (block.start + np.arange(len(block))) // bins.n
        some = block.rows(np.flatnonzero(turn % stride == 0))
        one, other = (
            np.asarray(model.expected_latent(some.select(part.seen.kept), fit))
            for part, fit in zip(parts, fits, strict=True)
        )
        table = np.zeros((one.shape[1], other.shape[1]))
        states = one.argmax(axis=1), other.argmax(axis=1)
        np.add.at(table, states, some.row_weights())
        return HalfScores(scores[0](block) + scores[1](block), table)

    return summarise


ENOUGH_GAIN = 1.0
"""Standard errors by which held-out rows must be likelier than under the last number accepted."""
STATES_AGREE = 0.6
"""Adjusted Rand index of what two halves make of all rows, in the mean: rows with gaps are told by
their neighbours, so that halves label some of them differently."""
ENOUGH_OVERLAP = 0.65
"""Rows that a component and its match in the other half share, of those that either has: on 64
simulated tables of sequences with gaps that was .65 or more for the true number in all but a few,
and never above .35 for a larger one."""
CLEAR_GAIN, CLEAR_AGREEMENT, CLEAR_OVERLAP = 4.0, 0.95, 0.9
"""Gain in standard errors, agreement and overlap that one way of halving the rows settles."""
LEAST_SHARE, LEAST_ROWS = 0.01, 10  # of the rows that a component must hold, and how many
PATIENCE, PATIENCE_AT_ONE = 3, 5
"""So many refusals in a row end the climb; more while nothing but one component stands."""


Tried = Callable[[int, Trial | None], Trial]
"""A number of components tried on halves, beside a trial that it has to beat, if any."""


class Climbed(NamedTuple):
    """All tried numbers in order, and why no more were tried."""

    steps: tuple[HeldOut, ...]
    ended: str

    @property
    def chosen(self) -> HeldOut:
        return next(step for step in reversed(self.steps) if step.accepted)

    def without(self, n_components: int, why: str) -> "Climbed":
        """The same with one number refused."""
        steps = (
            replace(step, accepted=False, refused=why)
            if step.n_components == n_components
            else step
            for step in self.steps
        )
        return self._replace(steps=tuple(steps))


def settled(trial: Trial, beside: Trial | None, n_ways: int) -> bool:
    """Whether further halvings would hardly change the decision."""
    if beside is None:
        return False
    gain, error = trial.gain(beside)
    if gain < -ENOUGH_GAIN * error:
        return True
    done = len(trial.halvings) / n_ways

    def at_best(so_far: float) -> float:
        return done * so_far + 1 - done

    if at_best(trial.agreement) < STATES_AGREE or at_best(trial.overlap) < ENOUGH_OVERLAP:
        return True
    alike = trial.agreement > CLEAR_AGREEMENT and trial.overlap > CLEAR_OVERLAP
    return alike and gain > CLEAR_GAIN * error


def climbed(tried: Tried, n_rows: float, most: int) -> Climbed:
    """Try numbers from one upwards, each against the last accepted one."""
    last = tried(1, None)
    steps, refusals = [HeldOut(1, last.log_likelihood, 0.0, 0.0, accepted=True)], 0
    for k in range(2, most + 1):
        try:
            trial = tried(k, last)
        except DataError as error:
            return Climbed(tuple(steps), f"{k} could not be tried: {error}")
        steps.append(judged(trial, last, n_rows))
        if steps[-1].accepted:
            last, refusals = trial, 0
        else:
            refusals += 1
        if refusals >= (PATIENCE_AT_ONE if last.n_components == 1 else PATIENCE):
            return Climbed(tuple(steps), "")
    return Climbed(tuple(steps), f"{most} is the most that was tried.")


def judged(trial: Trial, last: Trial, n_rows: float) -> HeldOut:
    """Whether a number is accepted after the last accepted one, or why not."""
    gain, error = trial.gain(last)
    step = HeldOut(
        trial.n_components,
        trial.log_likelihood,
        gain,
        error,
        last.n_components,
        trial.agreement,
        trial.overlap,
        trial.smallest,
        enough_agreement=STATES_AGREE,
    )
    why = why_not_reproduced(trial, n_rows) or _why_no_gain(step)
    return replace(step, accepted=not why, refused=why)


def why_not_reproduced(trial: Trial, n_rows: float) -> str:
    """Why components are not stable between halves; empty if they are."""
    if trial.agreement < STATES_AGREE:
        return (
            "halves of the rows disagree on them (agreement "
            f"{_below(trial.agreement, STATES_AGREE):.2f}, of at least {STATES_AGREE:g})"
        )
    if trial.overlap < ENOUGH_OVERLAP:
        return (
            "one of them is not found again in the other half (overlap "
            f"{_below(trial.overlap, ENOUGH_OVERLAP):.2f}, of at least {ENOUGH_OVERLAP:g})"
        )
    return too_small(trial.smallest, n_rows)


def _below(agreement: float, limit: float) -> float:
    """Two digits, or more if they would equal the limit.

    >>> _below(0.536, 0.8), _below(0.799, 0.8)
    (0.54, 0.79)
    """
    near = round(agreement, 2)
    return near if near < limit else math.floor(100 * agreement) / 100


def too_small(share: float, n_rows: float) -> str:
    """Why a smallest component of that share is too small; empty if it is not."""
    least = max(LEAST_SHARE, LEAST_ROWS / n_rows)
    return (
        ""
        if share >= least
        else f"the smallest holds {share:.1%} of the rows, of at least {least:.1%}"
    )


def _why_no_gain(step: HeldOut) -> str:
    if step.gain > ENOUGH_GAIN * step.error:
        return ""
    return (
        f"held-out rows are not clearly more likely than under {step.over} "
        f"({step.gain:+.3g} ± {step.error:.2g} a row)"
    )
