"""Models fitted to halves of the rows apart: what each makes of the other half, and of all rows."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Mask
from halfseen.data.errors import DataError
from halfseen.data.progress import Stages
from halfseen.data.resampling import Bins, reweighted
from halfseen.data.rows import Block, Rows, with_gaps
from halfseen.data.sums import Sums
from halfseen.diagnostics.agreement import adjusted_rand, least_overlap
from halfseen.diagnostics.choice import HeldOut
from halfseen.diagnostics.cross_validation import CrossScores, of_models_not_kept
from halfseen.inference.fit import fit_rows
from halfseen.inference.model import Model
from halfseen.inference.plan import Settings
from halfseen.moments.survey import Survey, survey

P = TypeVar("P")
MANY_ROWS = 1000
"""From so many rows on, two ways of halving them say as much as four."""


@dataclass(frozen=True, eq=False)
class HalfScores(Sums):
    """What two fits, of a half each, say of all rows."""

    scores: CrossScores  # each row under the fit that did not see it, one candidate
    table: Array  # (k, k)  rows by the component that either fit gives them; empty if none does


class Halving(NamedTuple, Generic[P]):
    """Two fits of a half each, and what they say."""

    said: HalfScores
    share: float  # of the smallest component of either, by its weight or by the rows it is given

    @property
    def agreement(self) -> float | None:
        """How far the fits give rows the same components; None if rows have none."""
        return adjusted_rand(self.said.table) if self.said.table.size else None

    @property
    def overlap(self) -> float | None:
        """How far the component that is found again least is; None if rows have none."""
        return least_overlap(self.said.table) if self.said.table.size else None


@dataclass(frozen=True, eq=False)
class Trial:
    """A number of components, tried on several ways of halving the rows."""

    n_components: int
    halvings: tuple[Halving[Any], ...] = ()

    @property
    def agreement(self) -> float | None:
        """The mean over the ways."""
        found = [one.agreement for one in self.halvings if one.agreement is not None]
        return float(np.mean(found)) if found else None

    @property
    def overlap(self) -> float | None:
        """Of the component that is found again least, in the mean over the ways."""
        found = [one.overlap for one in self.halvings if one.overlap is not None]
        return float(np.mean(found)) if found else None

    @property
    def smallest(self) -> float:
        """The share of the smallest component, in the mean over the ways."""
        return float(np.mean([one.share for one in self.halvings]))

    @property
    def log_likelihood(self) -> float:
        """Mean of the rows, each under the fit that did not see it."""
        return self._scores(len(self.halvings)).mean(0)

    def gain(self, reference: "Trial") -> tuple[float, float]:
        """What a held-out row gains over another number, on the same halves; its standard error."""
        n = min(len(self.halvings), len(reference.halvings))
        ours, theirs = self._scores(n), reference._scores(n)
        both = CrossScores(ours.n_rows, np.column_stack([ours.total, theirs.total]))
        return both.gain(0, 1)

    def _scores(self, n: int) -> CrossScores:
        first, *others = (one.said.scores for one in self.halvings[:n])
        return sum(others, start=first)


@dataclass(frozen=True, eq=False)
class Halves(Generic[P]):
    """Rows, and the ways of halving them that numbers of components are tried on.

    Bins are not divided, so rows that depend on each other are in one half.
    """

    settings: Settings
    model: Model[P]
    rows: Rows
    bins: Bins
    n_ways: int

    @cached_property
    def _parts(self) -> list[tuple["Part", "Part"]]:
        """Both halves by each of the ways."""
        return [
            (self._part(first), self._part(~first))
            for first in map(self._first, range(self.n_ways))
        ]

    def _first(self, way: int) -> Mask:
        """The bins (g,) of the first half."""
        return np.asarray(np.random.default_rng(way).permutation(self.bins.n) % 2 == 0)

    def _part(self, inside: Mask) -> "Part":
        rows = reweighted(self.rows, self.bins, inside.astype(float))
        return Part(inside, rows, survey(rows, self.settings.complete_above))

    def tried(self, trial: Trial, settled: Callable[[Trial], bool]) -> Trial:
        """A trial on the ways of halving that it lacks, until it is settled without them."""
        for parts in self._parts[len(trial.halvings) :]:
            if trial.halvings and settled(trial):
                break
            halving = self._halving(trial.n_components, *parts)
            trial = replace(trial, halvings=(*trial.halvings, halving))
        return trial

    def _halving(self, n_components: int, one: "Part", other: "Part") -> Halving[P]:
        with of_models_not_kept():
            fits = [
                fit_rows(self.settings, self.model, part.rows, part.seen, n_components, Stages())
                for part in (one, other)
            ]
            parameters = [fit.parameters for fit in fits]
            said = self.rows.accumulate(
                _said(
                    self.model,
                    self.bins,
                    (one, other),
                    (parameters[0], parameters[1]),
                    # Sparse rows may be too wide to be filled, and others are told by neighbours.
                    whole=not (self.rows.sparse or self.rows.sequenced),
                )
            )
        shares = [float(self.model.shares(one).min()) for one in parameters]
        if said.table.size:
            given = said.table / said.table.sum()
            shares += [float(given.sum(axis=axis).min()) for axis in (0, 1)]
        return Halving(said, min(shares))


class Part(NamedTuple):
    """One half."""

    inside: Mask  # (g,)  the bins that are in it
    rows: Rows
    seen: Survey


def _said(
    model: Model[P], bins: Bins, parts: tuple[Part, Part], fits: tuple[P, P], *, whole: bool
) -> Callable[[Block], HalfScores]:
    labelled, most = model.about.labels, model.abilities.scored_rows
    n_rows = sum(part.seen.sums.n_rows for part in parts)
    # One row in so many, and so in every bin, if likelihoods are slow.
    stride = 1 if most is None else max(1, int(n_rows // most))

    def summarise(block: Block) -> HalfScores:
        turn = (block.start + np.arange(len(block))) // bins.n
        chosen = np.flatnonzero(turn % stride == 0)
        label, block = bins.of(block)[chosen], block.rows(chosen)
        weights = block.row_weights()
        total = np.zeros(bins.n)
        table = with_gaps(block) if whole and labelled else None
        for part, fit in zip(parts, fits, strict=True):
            apart = np.flatnonzero(~part.inside[label])
            unseen = block.rows(apart).select(part.seen.kept)
            scores = unseen.weighed(model.log_likelihood(unseen, fit))
            total += np.bincount(label[apart], scores, minlength=bins.n)
            if table is not None:
                table[np.ix_(apart, part.seen.kept)] = _filled(unseen, model, fit)
        filled = block if table is None else _with(table, block)
        given = [
            np.asarray(model.expected_latent(filled.select(part.seen.kept), fit))
            for part, fit in zip(parts, fits if labelled else (), strict=labelled)
        ]
        n_rows = np.bincount(label, weights, minlength=bins.n).astype(float)
        return HalfScores(CrossScores(n_rows, total[:, None]), _crossed(given, weights))

    return summarise


def _filled(block: Block, model: Model[P], fit: P) -> Array:
    """Values (n, d), those that were not observed drawn given those that were.

    A row of which nothing tells is labelled by chance, which would count against components that
    are found again: they are to agree on whole rows.
    """
    random = np.random.RandomState(block.start % 2**32)
    (drawn,) = model.fill(lambda of_block: of_block(block), fit, 1, random)
    return np.where(block.observed, block.values, drawn)


def _with(table: Array, block: Block) -> Block:
    """The rows of a block, holding other values."""
    return Block.from_table(table, start=block.start, sequence=block.sequence)


def _crossed(hidden: list[Array], weights: Array) -> Array:
    """Weights of rows by the likeliest component of each of two fits, from probabilities (n, k)."""
    if not hidden:
        return np.zeros((0, 0))
    one, other = hidden
    shape = one.shape[1], other.shape[1]
    pair = one.argmax(axis=1) * shape[1] + other.argmax(axis=1)
    return np.bincount(pair, weights, minlength=shape[0] * shape[1]).reshape(shape).astype(float)


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
"""What is beyond doubt after one way of halving the rows."""
LEAST_SHARE, LEAST_ROWS = 0.01, 10
PATIENCE, PATIENCE_AT_ONE = 3, 5
"""So many refusals in a row end the climb; more while nothing but one component stands."""


Tried = Callable[[int, Trial | None], Trial]
"""A number of components tried on halves, beside a trial that it has to beat, if any."""


class Climbed(NamedTuple):
    """Every number that was tried, in order, and why no more were; empty if enough were refused."""

    steps: tuple[HeldOut, ...]
    ended: str

    @property
    def chosen(self) -> HeldOut:
        """The last that was accepted."""
        return next(step for step in reversed(self.steps) if step.accepted)

    def without(self, n_components: int, why: str) -> "Climbed":
        """The same, but one of the numbers is refused after all."""
        steps = (
            replace(step, accepted=False, refused=why)
            if step.n_components == n_components
            else step
            for step in self.steps
        )
        return self._replace(steps=tuple(steps))


def settled(trial: Trial, beside: Trial | None, n_ways: int) -> bool:
    """Whether the ways of halving that were not tried yet will hardly change the judgement."""
    if beside is None:
        return False
    gain, error = trial.gain(beside)
    if gain < -ENOUGH_GAIN * error:
        return True
    if trial.agreement is None or trial.overlap is None:
        return False
    done = len(trial.halvings) / n_ways

    def at_best(so_far: float) -> float:
        return done * so_far + 1 - done

    if at_best(trial.agreement) < STATES_AGREE or at_best(trial.overlap) < ENOUGH_OVERLAP:
        return True
    alike = trial.agreement > CLEAR_AGREEMENT and trial.overlap > CLEAR_OVERLAP
    return alike and gain > CLEAR_GAIN * error


def climbed(tried: Tried, n_rows: float, most: int) -> Climbed:
    """Numbers from one on, each beside the last that was accepted."""
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
    """Whether a number of components is accepted after the last that was, or why not."""
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
    """Why the components of halves are not to be believed; empty if they are."""
    if trial.agreement is not None and trial.agreement < STATES_AGREE:
        return (
            "halves of the rows disagree on them (agreement "
            f"{_below(trial.agreement, STATES_AGREE):.2f}, of at least {STATES_AGREE:g})"
        )
    if trial.overlap is not None and trial.overlap < ENOUGH_OVERLAP:
        return (
            "one of them is not found again in the other half (overlap "
            f"{_below(trial.overlap, ENOUGH_OVERLAP):.2f}, of at least {ENOUGH_OVERLAP:g})"
        )
    return too_small(trial.smallest, n_rows)


def _below(agreement: float, limit: float) -> float:
    """To two digits, as elsewhere, unless these would be those of the limit.

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
