"""Models fitted to halves of the rows apart: what each makes of the other half, and of all rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from halfseen.doubt.agreement import adjusted_rand, least_overlap
from halfseen.doubt.cross_scores import CrossScores, of_models_not_kept
from halfseen.method.fit import fit_rows
from halfseen.method.model import Model
from halfseen.method.plan import Settings
from halfseen.moments.survey import Survey, survey
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.bins import Bins
from halfseen.rows.engines.reweighted import ReweightedRows
from halfseen.rows.gathered import with_gaps
from halfseen.rows.rows import Block, Rows
from halfseen.rows.stages import Stages

P = TypeVar("P")
MANY_ROWS = 1000
"""From so many rows on, two ways of halving them say as much as four."""


@dataclass(frozen=True, eq=False)
class HalfScores:
    """What two fits, of a half each, say of all rows."""

    scores: CrossScores  # each row under the fit that did not see it, one candidate
    table: Array  # (k, k)  rows by the component that either fit gives them; empty if none does

    def __add__(self, other: Self) -> Self:
        return type(self)(self.scores + other.scores, self.table + other.table)


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
        rows = ReweightedRows(self.rows, self.bins, inside.astype(float))
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
        weights = block.weighed(np.ones(len(block)))
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
            np.asarray(model.hidden(filled.select(part.seen.kept), fit))
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
