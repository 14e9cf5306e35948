"""Draws for multiple imputation: each column in turn given all others, parameters varied.

Every chain is learned from a bootstrap of the rows, its gaps drawn again and again, so that draws
by several chains differ as much as is unknown of what is missing.

References
----------
S. van Buuren, K. Groothuis-Oudshoorn (2011), mice: multivariate imputation by chained equations.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from halfseen.imputer import regressions, softmax
from halfseen.imputer.clock import Clock
from halfseen.imputer.designs import Layout
from halfseen.imputer.grams import Grams
from halfseen.imputer.regressions import Regression
from halfseen.imputer.ridge import PENALTIES, factor, solved
from halfseen.imputer.views import View
from halfseen.rows.arrays import Array, Mask

ROUNDS = 5
"""Times that a chain is learned from gaps that were drawn by what it was before."""
SWEEPS = 10
"""Times that each gap of new rows is drawn."""
WINDOW, NEAREST = 25, 5
"""Known cells on each side whose residuals, or values, a gap may get."""
MOST_DONORS = 5_000
MOST_ENTRIES = 1 << 22
"""Of the features of rows whose gaps are drawn at a time."""


@dataclass(frozen=True, eq=False)
class Link:
    """One column given all others."""

    column: int
    weights: Array  # (p, t)
    begin: Array  # (t,)      logarithms of the levels' shares, or nothing
    expected: Array  # (s,)   of known cells, ascending
    given: Array  # (s,)      what these hold, or are off by

    def drawn(self, features: Array, view: View, whole: bool, random: np.random.Generator) -> Array:
        """Values for rows of such features (n, p); (n,)."""
        said = features @ self.weights
        if not view.numbers[self.column]:
            below = softmax.chances(self.begin + said).cumsum(axis=1)
            place = (below < random.random((len(said), 1)) * below[:, -1:]).sum(axis=1)
            found: Array = view.levels[self.column][np.minimum(place, len(self.begin) - 1)]
            return found
        near = NEAREST if whole else WINDOW
        place = np.searchsorted(self.expected, said[:, 0])
        place = place + random.integers(-near, near, size=len(said))
        given = self.given[np.clip(place, 0, len(self.given) - 1)]
        return given if whole else view.value(self.column, said[:, 0] + given)


@dataclass(frozen=True, eq=False)
class Chain:
    """All columns, each given the others, by one set of parameters."""

    layout: Layout
    links: tuple[Link, ...]
    whole: Mask  # (d,)  columns that get values of other rows rather than sums
    low: Array  # (d,)
    high: Array  # (d,)

    def drawn(self, table: Array, known: Mask, sweeps: int, random: np.random.Generator) -> Array:
        """A table (n, d) without gaps in which all that is not ``known`` is drawn again.

        Some rows at a time, so that their features need little memory.
        """
        step = max(MOST_ENTRIES // len(self.layout.owner), 1)
        pieces = [slice(start, start + step) for start in range(0, len(table), step)]
        drawn = [self._drawn(table[piece], known[piece], sweeps, random) for piece in pieces]
        return np.concatenate(drawn) if drawn else table.copy()

    def _drawn(self, table: Array, known: Mask, sweeps: int, random: np.random.Generator) -> Array:
        view, found = self.layout.view, table.copy()
        features = self.layout(found, np.ones_like(known))
        for _ in range(sweeps):
            for link in self.links:
                j = link.column
                gaps = np.flatnonzero(~known[:, j])
                if len(gaps):
                    new = link.drawn(features[gaps], view, bool(self.whole[j]), random)
                    found[gaps, j] = np.clip(new, self.low[j], self.high[j])
                    features[gaps, view.features(j)] = view.column(j, found[gaps, j])
        return found


@dataclass(frozen=True, eq=False)
class Chains:
    """What is needed to learn chains from a table."""

    layout: Layout
    table: Array  # (n, d)   gaps filled, to begin with
    known: Mask  # (n, d)
    whole: Mask  # (d,)
    penalties: dict[int, float]

    @classmethod
    def of(
        cls, view: View, table: Array, known: Mask, whole: Mask, seed: int, clock: Clock
    ) -> "Chains":
        """Penalties by rows that are held out of the filled table, as long as there is time."""
        layout = Layout.of(view, table, np.empty(0, dtype=np.intp))
        features = layout(table, np.ones_like(known))
        before = np.zeros((len(table), view.size))
        for j in view.of_levels:
            own = view.targets(int(j))
            before[:, own] = _shares(features[known[:, j], own])
        folds, nobody = regressions.folds_of(len(table), seed), np.empty((0, *table.shape))
        found = regressions.learned(layout, features, before, nobody, known, folds, clock)
        return cls(layout, table, known, whole, {one.column: _penalty(one) for one in found})

    def learned(self, random: np.random.Generator, clock: Clock) -> Chain:
        """One chain, from rows drawn with replacement; of one round if time is over."""
        n, table = len(self.table), self.table
        weights = np.bincount(random.integers(n, size=n), minlength=n).astype(float)
        low = np.min(table, axis=0, where=self.known, initial=np.inf)
        high = np.max(table, axis=0, where=self.known, initial=-np.inf)
        for turn in range(ROUNDS):
            features = self.layout(table, np.ones_like(self.known))
            links = self._links(features, table, weights, random)
            chain = Chain(self.layout, links, self.whole, low, high)
            if clock.gone():
                break
            if turn < ROUNDS - 1:
                table = chain.drawn(table, self.known, 2, random)
        return chain

    def _links(
        self, features: Array, table: Array, weights: Array, random: np.random.Generator
    ) -> tuple[Link, ...]:
        grams = Grams.of(features, np.zeros(len(features), dtype=np.intp), 1, weights)
        return tuple(
            self._link(j, grams, table, weights, random)
            for j in range(len(self.whole))
            if self.known[:, j].any()
        )

    def _link(
        self, j: int, grams: Grams, table: Array, weights: Array, random: np.random.Generator
    ) -> Link:
        view, rows = self.layout.view, self.known[:, j]
        others = np.flatnonzero(self.layout.owner != j)
        gram = grams.over(rows)[0][others[:, None], others]
        penalty = self.penalties.get(j, float(PENALTIES[-1])) * self.layout.penalties[others]
        own = view.targets(j)
        part, weight = grams.features[rows], weights[rows]
        if not weight.any():  # the lot fell on none of the rows that hold the column
            weight = np.ones(len(part))
        coefficients = np.zeros((len(self.layout.owner), own.stop - own.start))
        if not view.numbers[j]:
            begin = np.log(_shares(part[:, own], weight))
            said = softmax.Part.of(
                part[:, others], np.tile(begin, (len(part), 1)), part[:, own], weight
            )
            coefficients[others] = softmax.climbed(said, gram, penalty)
            return Link(j, coefficients, begin, np.empty(0), np.empty(0))
        products = part[:, others].T @ (weight * part[:, own.start])
        coefficients[others, 0] = solved(gram, products, penalty)
        expected = part @ coefficients[:, 0]
        left = part[:, own.start] - expected
        inflated = np.sqrt(_inflation(gram, penalty, float(weight.sum())))
        given = table[rows, j] if self.whole[j] else left * inflated
        donors = np.repeat(np.arange(len(part)), weight.astype(int))
        if len(donors) > MOST_DONORS:
            donors = random.choice(donors, MOST_DONORS, replace=False)
        donors = donors[np.argsort(expected[donors], kind="stable")]
        return Link(j, coefficients, np.empty(0), expected[donors], given[donors])


def _inflation(gram: Array, penalty: Array, n: float) -> float:
    """By how much more squares of new rows are missed than those that were learned from."""
    used = float(np.trace(cho_solve(factor(gram, penalty), gram, check_finite=False)))
    return float(np.clip(n / max(n - used, 1.0), 1.0, 4.0))


def _penalty(one: Regression) -> float:
    return one.penalty if np.isfinite(one.penalty) else float(PENALTIES[-1])


def _shares(truth: Array, weights: Array | None = None) -> Array:
    """How common levels are, half a row of each being added."""
    count = truth.sum(axis=0) if weights is None else weights @ truth
    found: Array = (count + 0.5) / (count + 0.5).sum()
    return found


def chains_for(
    view: View, table: Array, known: Mask, whole: Mask, number: int, seed: int, clock: Clock
) -> tuple[Chain, ...]:
    """So many chains, each with a stream of chance of its own."""
    chains = Chains.of(view, table, known, whole, seed, clock)
    return tuple(chains.learned(np.random.default_rng([seed, i]), clock) for i in range(number))
