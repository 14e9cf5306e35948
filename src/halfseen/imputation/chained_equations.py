"""Draws for multiple imputation: all gaps of a row together, then each given all other cells.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array, Mask
from halfseen.data.block import Block
from halfseen.data.engines.memory import MemoryRows
from halfseen.imputation import regressions
from halfseen.imputation import ridge as softmax
from halfseen.imputation.features import Layout, View
from halfseen.imputation.regressions import Regression
from halfseen.imputation.ridge import PENALTIES, Grams, solved
from halfseen.imputation.time_budget import Clock
from halfseen.models.gaussian_mixture import GaussianMixture
from halfseen.moments.survey import survey

MOST_COORDINATES = 60
"""Which a covariance is estimated of: time for a row grows with their third power."""
FEWEST_ROWS = 30
TOLERANCE, PASSES, AGAIN = 1e-5, 60, 30
"""Of EM, in nats a row: over all rows, and over bootstrapped rows from where all rows led."""


@dataclass(frozen=True, eq=False)
class JointNormal:
    """``z ~ N(μ, Σ)`` of numbers in standard deviations, and of indicators of levels."""

    features: NDArray[np.intp]  # (c,)  which of a view's features its coordinates are
    model: Any
    parameters: Any

    @classmethod
    def of(cls, view: View, table: Array) -> "JointNormal | None":
        """Of a table (n, d), NaN in the gaps; None if it has too many columns, or too few rows."""
        features = _coordinates(view)
        if not len(features) or len(table) < FEWEST_ROWS:
            return None
        rows = _rows(_known_coordinates(view, features, table, view.known(table)))
        seen = survey(rows, 1.0)
        if not seen.kept.all():
            return None
        plain = GaussianMixture(covariance_type="full", outliers=None, tol=TOLERANCE)
        model: Any = plain._model().adapted_to(rows, seen)
        start = model.emission.single(rows, seen.sums.mean, np.nanvar(rows.table, axis=0))
        return cls(features, model, model.run_em(rows, start, PASSES).parameters)

    def bootstrapped(self, view: View, table: Array, weights: Array) -> "JointNormal":
        """The same if each row of a table counts ``weights`` (n,) times."""
        drawn = weights > 0
        known = _known_coordinates(view, self.features, table[drawn], view.known(table[drawn]))
        if np.isnan(known).all(axis=0).any():  # no row that holds some column was drawn
            return self
        rows = _rows(known, weights[drawn])
        return replace(self, parameters=self.model.run_em(rows, self.parameters, AGAIN).parameters)

    @property
    def coefficients(self) -> tuple[Array, Array]:
        """Of the regression of each coordinate on all others; constants (c,), slopes (c, c)."""
        mean, precision = self.parameters.means[0], np.linalg.inv(self.parameters.covariances[0])
        slopes = -precision / np.diagonal(precision)[:, None]
        np.fill_diagonal(slopes, 0.0)
        return mean - slopes @ mean, slopes

    def drawn(self, view: View, table: Array, known: Mask, random: np.random.Generator) -> Array:
        """A table (n, d) in which all that is not ``known`` is drawn given what is."""
        block = Block.from_table(_known_coordinates(view, self.features, table, known))
        labels = np.zeros(len(table), dtype=np.int64)
        drawn = self.model.emission.draw_given(block, labels, self.parameters, random)
        every = np.zeros((len(table), view.size))
        every[:, self.features] = drawn
        found, owner = table.copy(), view.owner[self.features]
        for j in np.unique(owner):
            gaps = ~known[:, j]
            own = every[gaps, view.features(int(j))]
            if view.numbers[j]:
                found[gaps, j] = view.value(int(j), own[:, 0])
            else:
                own[:, 0] = 1 - own.sum(axis=1)  # indicators add up to one
                found[gaps, j] = view.levels[j][own.argmax(axis=1)]
        return found


def _coordinates(view: View) -> NDArray[np.intp]:
    """Deviations of numbers, and indicators of all levels but the first if these are not many."""
    numbers = view.starts[:-1][view.numbers]
    first = view.starts[:-1][~view.numbers]
    of_levels = np.flatnonzero(~view.numbers[view.owner])
    every = np.union1d(numbers, np.setdiff1d(of_levels, first))
    for some in (every, numbers):
        if len(numbers) and 2 <= len(some) <= MOST_COORDINATES:
            return some.astype(np.intp)
    return np.empty(0, dtype=np.intp)


def _known_coordinates(view: View, features: NDArray[np.intp], table: Array, known: Mask) -> Array:
    """Coordinates of a table, NaN where nothing is ``known``; (n, c)."""
    found = view(np.where(known, table, np.nan))[:, features]
    found[~known[:, view.owner[features]]] = np.nan
    return np.ascontiguousarray(found)


def _rows(coordinates: Array, weights: Array | None = None) -> MemoryRows:
    """Rows in which something is known, those with the same gaps beside each other."""
    some = np.flatnonzero(~np.isnan(coordinates).all(axis=1))
    gaps = np.packbits(np.isnan(coordinates[some]), axis=1)
    some = some[np.lexsort(gaps.T)]
    names = tuple(map(str, range(coordinates.shape[1])))
    own = None if weights is None else weights[some]
    return MemoryRows(np.ascontiguousarray(coordinates[some]), names, own)


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
    """What values columns can have; (d,) each."""

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
    """One column given all others."""

    column: int
    weights: Array  # (p, t)
    begin: Array  # (t,)      logarithms of the levels' shares, or nothing
    expected: Array  # (s,)   of known cells, ascending
    left: Array  # (s,)       by how many standard deviations these are off
    values: Array  # (s,)     what they hold

    def drawn(
        self, features: Array, view: View, columns: Columns, random: np.random.Generator
    ) -> Array:
        """Values for rows of such features (n, p); (n,)."""
        said = features @ self.weights
        j = self.column
        if not view.numbers[j]:
            below = softmax.chances(self.begin + said).cumsum(axis=1)
            place = (below < random.random((len(said), 1)) * below[:, -1:]).sum(axis=1)
            found: Array = view.levels[j][np.minimum(place, len(self.begin) - 1)]
            return found
        near = min(NEAREST if columns.whole[j] else WINDOW, max(len(self.values) // 2, 1))
        first = np.searchsorted(self.expected, said[:, 0]) - near
        first = np.clip(first, 0, max(len(self.values) - 2 * near, 0))
        donor = np.minimum(first + random.integers(2 * near, size=len(said)), len(self.values) - 1)
        values = self.values[donor]
        if columns.whole[j]:
            new = values + self._beyond(said[:, 0], values, view, columns)
        else:
            new = view.value(j, said[:, 0] + self._centred(donor, first, 2 * near))
        return columns.possible(j, new, values)

    def _centred(self, donor: NDArray[np.intp], first: NDArray[np.intp], number: int) -> Array:
        """Residuals of donors, about the mean of all that are as near."""
        total = np.concatenate([[0.0], np.cumsum(self.left)])
        last = np.minimum(first + number, len(self.left))
        centred: Array = self.left[donor] - (total[last] - total[first]) / (last - first)
        return centred

    def _beyond(self, said: Array, values: Array, view: View, columns: Columns) -> Array:
        """How far what is said of gaps is from all that is said of known cells, in own units."""
        away = said - np.clip(said, self.expected[0], self.expected[-1])
        at_spike = values == columns.spike[self.column]
        return np.where(at_spike, 0.0, view.spread[self.column] * away)


@dataclass(frozen=True, eq=False)
class Chain:
    """All columns, each given the others, by one set of parameters."""

    layout: Layout
    normal: JointNormal | None
    links: tuple[Link, ...]
    columns: Columns

    def drawn(
        self, table: Array, known: Mask, random: np.random.Generator, sweeps: int | None = None
    ) -> Array:
        """A table (n, d) without gaps in which all that is not ``known`` is drawn again.

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
    """What is needed to learn chains from a table."""

    layout: Layout
    normal: JointNormal | None
    table: Array  # (n, d)   gaps filled, to begin with
    known: Mask  # (n, d)
    columns: Columns
    penalties: dict[int, float]  # of what is added to the joint distribution; infinite if nothing

    @classmethod
    def of(
        cls, view: View, table: Array, known: Mask, columns: Columns, seed: int, clock: Clock
    ) -> "Chains":
        """Penalties by rows that are held out of the filled table, as long as there is time."""
        normal = None if clock.gone() else JointNormal.of(view, np.where(known, table, np.nan))
        layout = Layout.of(view, table, np.empty(0, dtype=np.intp))
        if normal is not None:
            layout = replace(layout, said=normal.features)
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
        found = regressions.learned(layout, features, before, nobody, known, folds, clock)
        penalties = {one.column: _penalty(one, normal) for one in found}
        return cls(layout, normal, table, known, columns, penalties)

    def learned(self, random: np.random.Generator, clock: Clock) -> Chain:
        """One chain, from rows drawn with replacement; of one round if time is over."""
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
            if clock.gone():
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
            said = softmax.Part.of(
                part[:, others], np.tile(begin, (len(part), 1)), part[:, own], weight
            )
            coefficients[others] = softmax.climbed(said, gram, penalty)
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
    """What a joint normal distribution says of a number given all others, as coefficients; (p,)."""
    found = np.zeros(len(layout.owner))
    if normal is not None:
        constants, slopes = normal.coefficients
        place = int(np.flatnonzero(normal.features == layout.view.targets(j).start)[0])
        found[normal.features] = slopes[place]
        found[-1] = constants[place]
    return found


def _penalty(one: Regression, normal: JointNormal | None) -> float:
    """That of held-out rows; without a joint distribution something has to be regressed."""
    if normal is not None or np.isfinite(one.penalty):
        return one.penalty
    return float(PENALTIES[-1])


def _shares(truth: Array, weights: Array | None = None) -> Array:
    """How common levels are, half a row of each being added."""
    count = truth.sum(axis=0) if weights is None else weights @ truth
    found: Array = (count + 0.5) / (count + 0.5).sum()
    return found


def chains_for(
    view: View, table: Array, known: Mask, columns: Columns, number: int, seed: int, clock: Clock
) -> tuple[Chain, ...]:
    """So many chains, each with a stream of chance of its own."""
    chains = Chains.of(view, table, known, columns, seed, clock)
    return tuple(chains.learned(np.random.default_rng([seed, i]), clock) for i in range(number))
