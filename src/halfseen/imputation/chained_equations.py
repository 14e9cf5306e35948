"""Draws for multiple imputation by chained equations.

Every chain is learned from a bootstrap of the rows, so that draws by several chains differ as much
as is unknown of what is missing. A chain begins with gaps drawn from one normal distribution of all
columns, which has no memory and goes on in a straight line where nothing was seen. Conditional
distributions of each column given all others then mend what is not normal: they begin at what that
distribution says, and add what curves, bins and levels of the other columns tell on held-out rows.

References
----------
S. van Buuren, K. Groothuis-Oudshoorn (2011), mice: multivariate imputation by chained equations.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.imputation import regressions
from halfseen.imputation import ridge as softmax
from halfseen.imputation.features import Layout, View
from halfseen.imputation.gaussian_mixtures import JointNormal
from halfseen.imputation.regressions import Regression
from halfseen.imputation.ridge import PENALTIES, Grams, solved
from halfseen.imputation.time_budget import TimeBudget

ROUNDS, SWEEPS = 2, 1
"""Times that a chain is learned from gaps that it drew, and that each gap of new rows is drawn.

Few, as gaps begin at a joint draw: more move them away from it where nothing was seen."""
ROUNDS_ALONE, SWEEPS_ALONE = 5, 10
"""The same if there is no joint distribution, and gaps begin at what they are filled with."""
WINDOW, NEAREST = 25, 5
"""Known cells on each side whose residuals, or values, a gap may get."""
MOST_DONORS = 5_000
MOST_ENTRIES = 1 << 22
"""Of the features of rows whose gaps are drawn at a time."""


class Columns(NamedTuple):
    """The possible values of columns; (d,) each."""

    whole: Mask  # whether they get values of other rows rather than sums
    spike: Array  # a number that many cells hold exactly, NaN if there is none
    low: Array  # lowest value that was seen
    high: Array
    floor: Array  # lowest possible value
    ceiling: Array

    def possible(self, j: int, new: Array, instead: Array) -> Array:
        """New values (n,), those beyond a limit at it; if nothing is there, others (n,) instead."""
        below, above = new < self.floor[j], new > self.ceiling[j]
        new = np.where(below, self.low[j] if self.low[j] == self.floor[j] else instead, new)
        return np.where(above, self.high[j] if self.high[j] == self.ceiling[j] else instead, new)


@dataclass(frozen=True, eq=False)
class Link:
    """The regression of one column on all others."""

    column: int
    weights: Array  # (p, t)
    begin: Array  # (t,)      logarithms of the levels' shares, or nothing
    expected: Array  # (s,)   of known cells, ascending
    left: Array  # (s,)       by how many standard deviations these are off
    values: Array  # (s,)     what they hold

    def drawn(
        self, features: Array, view: View, columns: Columns, random: np.random.Generator
    ) -> Array:
        """Draw values for rows with these features (n, p); (n,)."""
        predicted = features @ self.weights
        j = self.column
        if not view.numbers[j]:
            below = softmax.softmax(self.begin + predicted).cumsum(axis=1)
            place = (below < random.random((len(predicted), 1)) * below[:, -1:]).sum(axis=1)
            found: Array = view.levels[j][np.minimum(place, len(self.begin) - 1)]
            return found
        near = min(NEAREST if columns.whole[j] else WINDOW, max(len(self.values) // 2, 1))
        first = np.searchsorted(self.expected, predicted[:, 0]) - near
        first = np.clip(first, 0, max(len(self.values) - 2 * near, 0))
        donor = np.minimum(
            first + random.integers(2 * near, size=len(predicted)), len(self.values) - 1
        )
        values = self.values[donor]
        if columns.whole[j]:
            new = values + self._beyond(predicted[:, 0], values, view, columns)
        else:
            new = view.value(j, predicted[:, 0] + self._centred(donor, first, 2 * near))
        return columns.possible(j, new, values)

    def _centred(self, donor: NDArray[np.intp], first: NDArray[np.intp], number: int) -> Array:
        """Residuals of donors around the mean of equally near donors."""
        total = np.concatenate([[0.0], np.cumsum(self.left)])
        last = np.minimum(first + number, len(self.left))
        centred: Array = self.left[donor] - (total[last] - total[first]) / (last - first)
        return centred

    def _beyond(self, predicted: Array, values: Array, view: View, columns: Columns) -> Array:
        """How far predictions of gaps extrapolate beyond those of known cells."""
        away = predicted - np.clip(predicted, self.expected[0], self.expected[-1])
        at_spike = values == columns.spike[self.column]
        return np.where(at_spike, 0.0, view.spread[self.column] * away)


@dataclass(frozen=True, eq=False)
class Chain:
    """Chained equations with one set of parameters."""

    layout: Layout
    normal: JointNormal | None
    links: tuple[Link, ...]
    columns: Columns

    def drawn(
        self, table: Array, known: Mask, random: np.random.Generator, sweeps: int | None = None
    ) -> Array:
        """A table (n, d) with all cells that are not ``known`` drawn again.

        Some rows at a time, so that their features need little memory.
        """
        if sweeps is None:
            sweeps = SWEEPS_ALONE if self.normal is None else SWEEPS
        step = max(MOST_ENTRIES // len(self.layout.owner), 1)
        pieces = [slice(start, start + step) for start in range(0, len(table), step)]
        drawn = [self._drawn(table[piece], known[piece], sweeps, random) for piece in pieces]
        return np.concatenate(drawn) if drawn else table.copy()

    def _drawn(self, table: Array, known: Mask, sweeps: int, random: np.random.Generator) -> Array:
        view, found = self.layout.view, table.copy()
        if self.normal is not None:
            found = self.normal.drawn(view, table, known, random)
        features = self.layout(found, np.ones_like(known))
        for _ in range(sweeps):
            for link in self.links:
                j = link.column
                gaps = np.flatnonzero(~known[:, j])
                if len(gaps):
                    found[gaps, j] = link.drawn(features[gaps], view, self.columns, random)
                    features[gaps, view.features(j)] = view.column(j, found[gaps, j])
        return found


@dataclass(frozen=True, eq=False)
class Chains:
    """What fitting of chains needs of a table."""

    layout: Layout
    normal: JointNormal | None
    table: Array  # (n, d)   gaps filled, to begin with
    known: Mask  # (n, d)
    columns: Columns
    penalties: dict[int, float]  # of what is added to the joint distribution; infinite if nothing

    @classmethod
    def of(
        cls, view: View, table: Array, known: Mask, columns: Columns, seed: int, budget: TimeBudget
    ) -> "Chains":
        """Penalties by rows that are held out of the filled table, as long as there is time."""
        normal = None if budget.spent() else JointNormal.of(view, np.where(known, table, np.nan))
        layout = Layout.of(view, table, np.empty(0, dtype=np.intp))
        if normal is not None:
            layout = replace(layout, linear_elsewhere=normal.features)
            table = normal.drawn(view, table, known, np.random.default_rng(seed))
        features = layout(table, np.ones_like(known))
        before = np.zeros((len(table), view.size))
        for j in range(len(view.numbers)):
            own = view.targets(j)
            if view.numbers[j]:
                before[:, own] = features @ _offset(layout, normal, j)[:, None]
            else:
                before[:, own] = _shares(features[known[:, j], own])
        folds, nobody = regressions.folds_of(len(table), seed), np.empty((0, *table.shape))
        found = regressions.learned(layout, features, before, nobody, known, folds, budget)
        penalties = {one.column: _penalty(one, normal) for one in found}
        return cls(layout, normal, table, known, columns, penalties)

    def learned(self, random: np.random.Generator, budget: TimeBudget) -> Chain:
        """A chain from a bootstrap sample of rows; of one round if time is over."""
        n, table, view = len(self.table), self.table, self.layout.view
        weights = np.bincount(random.integers(n, size=n), minlength=n).astype(float)
        normal = self.normal
        if normal is not None:
            normal = normal.bootstrapped(view, np.where(self.known, table, np.nan), weights)
            table = normal.drawn(view, table, self.known, random)
        rounds = ROUNDS_ALONE if normal is None else ROUNDS
        for turn in range(rounds):
            features = self.layout(table, np.ones_like(self.known))
            links = self._links(features, normal, weights, random)
            chain = Chain(self.layout, normal, links, self.columns)
            if budget.spent():
                break
            if turn < rounds - 1:
                table = chain.drawn(table, self.known, random, 2)
        return chain

    def _links(
        self,
        features: Array,
        normal: JointNormal | None,
        weights: Array,
        random: np.random.Generator,
    ) -> tuple[Link, ...]:
        grams = Grams.of(features, np.zeros(len(features), dtype=np.intp), 1, weights)
        return tuple(
            self._link(j, grams, normal, weights, random)
            for j in range(self.known.shape[1])
            if self.known[:, j].any()
        )

    def _link(
        self,
        j: int,
        grams: Grams,
        normal: JointNormal | None,
        weights: Array,
        random: np.random.Generator,
    ) -> Link:
        view, rows = self.layout.view, self.known[:, j]
        others = self.layout.regressors(j)
        gram = grams.over(rows)[0][others[:, None], others]
        ridge = self.penalties.get(j, np.inf if normal is not None else float(PENALTIES[-1]))
        penalty = ridge * self.layout.penalties[others]
        own = view.targets(j)
        part, weight = grams.features[rows], weights[rows]
        if not weight.any():  # no row that holds the column was drawn
            weight = np.ones(len(part))
        if not view.numbers[j]:
            if not np.isfinite(ridge):
                penalty = PENALTIES[-1] * self.layout.penalties[others]
            coefficients = np.zeros((len(self.layout.owner), own.stop - own.start))
            begin = np.log(_shares(part[:, own], weight))
            predicted = softmax.KnownRows.of(
                part[:, others], np.tile(begin, (len(part), 1)), part[:, own], weight
            )
            coefficients[others] = softmax.fit_softmax(predicted, gram, penalty)
            return Link(j, coefficients, begin, *np.empty((3, 0)))
        offset = _offset(self.layout, normal, j)
        truth = part[:, own.start]
        if np.isfinite(ridge):
            left = truth - part @ offset
            offset[others] += solved(gram, part[:, others].T @ (weight * left), penalty)
        expected = part @ offset
        # Of all rows, drawn or not: those that were learned from are missed by too little.
        donors = random.integers(len(part), size=min(len(part), MOST_DONORS))
        donors = donors[np.argsort(expected[donors], kind="stable")]
        return Link(
            j,
            offset[:, None],
            np.empty(0),
            expected[donors],
            (truth - expected)[donors],
            self.table[rows, j][donors],
        )


def _offset(layout: Layout, normal: JointNormal | None, j: int) -> Array:
    """Coefficients (p,) of a number on all others, from a joint normal distribution."""
    found = np.zeros(len(layout.owner))
    if normal is not None:
        constants, slopes = normal.coefficients
        place = int(np.flatnonzero(normal.features == layout.view.targets(j).start)[0])
        found[normal.features] = slopes[place]
        found[-1] = constants[place]
    return found


def _penalty(one: Regression, normal: JointNormal | None) -> float:
    """The ridge penalty chosen on held-out rows."""
    if normal is not None or np.isfinite(one.penalty):
        return one.penalty
    return float(PENALTIES[-1])


def _shares(truth: Array, weights: Array | None = None) -> Array:
    """Shares of values, with half a pseudo-row each."""
    count = truth.sum(axis=0) if weights is None else weights @ truth
    found: Array = (count + 0.5) / (count + 0.5).sum()
    return found


def chains_for(
    view: View,
    table: Array,
    known: Mask,
    columns: Columns,
    number: int,
    seed: int,
    budget: TimeBudget,
) -> tuple[Chain, ...]:
    """That many chains, each with its own random stream."""
    chains = Chains.of(view, table, known, columns, seed, budget)
    return tuple(chains.learned(np.random.default_rng([seed, i]), budget) for i in range(number))
