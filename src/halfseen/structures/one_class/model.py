"""A mixture: everything that follows from one component a row, whatever its columns are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from halfseen.doubt.matching import nearest
from halfseen.explain.groups import Groups
from halfseen.explain.portrait import Portrait
from halfseen.method.em import climb
from halfseen.method.fit import Fitted
from halfseen.method.learned import reordered
from halfseen.method.model import Abilities, About, Cells, Cumulants, Each, Polished
from halfseen.method.starts import SAME, finalists, plan_for, tried
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array, Labels
from halfseen.rows.bins import Bins
from halfseen.rows.engines.memory import MemoryRows
from halfseen.rows.rows import Block, Rows
from halfseen.rows.some_rows import some_rows
from halfseen.structures.one_class.e_step import ClassRegression, ClassSteps, posterior
from halfseen.structures.one_class.emission import Emission
from halfseen.structures.one_class.overlap import overlap
from halfseen.structures.one_class.scores import replicated
from halfseen.structures.one_class.seeds import Seeding

P = TypeVar("P")
EQUAL = 0.01
"""Nats that are no reason to prefer another start to what the moments say."""
ENOUGH = 10
"""Passes that show whether parameters that allow for more are worth it."""
WORTH = 5.0
"""Nats that it must bring for the rows that starts are tried on."""


def anything(seen: Survey) -> None:
    """Any numbers will do."""


@dataclass(frozen=True, eq=False)
class OneClass(Generic[P]):
    """A mixture, from how its columns arise and how that shows in moments."""

    starts: ClassVar[bool] = True
    about: About
    abilities: Abilities
    emission: Emission[P]
    cumulants: Cumulants[P]
    tol: float
    max_iter: int
    axes: Mapping[str, str]
    check: Callable[[Survey], None]
    caution: Callable[[Survey], None] = anything
    own_checks: tuple[Callable[[Any], Iterator[Any]], ...] = ()

    @property
    def checks(self) -> tuple[Callable[[Any], Iterator[Any]], ...]:
        """Components may overlap in every mixture."""
        return (overlap, *self.own_checks)

    def portrait(self, fitted: Fitted[P]) -> Portrait:
        """As groups of rows."""
        means, variances = self.emission.means, self.emission.variances
        return Groups.of(fitted, means(fitted.parameters), variances(fitted.parameters))

    def regression(self, kept: Survey) -> ClassRegression[P]:
        """Incomplete features are found by regression on the components' shares."""
        return ClassRegression(self.emission, kept.sums.mean)

    def finished(self, read: P) -> P:
        """As they were read."""
        return read

    def suited(self, rows: Rows, kept: Survey) -> Self:
        """With limits that suit a table."""
        return replace(self, emission=self.emission.for_table(rows, kept))

    def calmed(self, rows: Rows, kept: Survey) -> Rows:
        """Rows as the emission lets moments see them."""
        return self.emission.calmed(rows, kept)

    def polish(
        self, rows: Rows, start: P, n_components: int, kept: Survey, seed: Callable[[], int]
    ) -> Polished:
        """By expectation-maximisation, from the best of several starts."""
        n_rows, plan = kept.sums.n_rows, plan_for(kept.sums.n_rows)
        some = some_rows(rows, n_rows, plan.most_rows)
        n_some = some.accumulate(lambda block: block.weighed(np.ones(len(block))).sum())
        starts = self._starts(some, start, n_components, plan.n_seeds, seed)
        found = tried(starts, partial(self.climbed, some), n_some, plan)
        last = finalists(found, n_rows, plan)
        simpler = self._simpler(some, last[0].parameters, n_some, kept)
        ends = [self.climbed(rows, simpler(one.parameters), self.max_iter) for one in last]
        heights = np.array([climb.log_likelihood or 0.0 for _, climb in ends])
        best = int(np.argmax(heights > heights.max() - EQUAL / n_rows))
        parameters, climb = ends[best]
        beside = self.emission.left_out(rows, parameters) - self.emission.prior(parameters)
        parameters = self._in_order(self.emission.settled(rows, parameters), start)
        n_agreeing = sum(bool(one.height > found[0].height - SAME) for one in found)
        return Polished(
            parameters,
            climb._replace(
                log_likelihood=float(heights[best]) + beside / n_rows,
                start=last[best].name,
                n_starts=len(found),
                n_agreeing=n_agreeing,
                work=sum(one.passes for one in found) * n_some / n_rows
                + sum(climb.n_iterations for _, climb in ends),
            ),
        )

    def climbed(self, rows: Rows, start: P, max_iterations: int) -> Polished:
        """To the maximum of the likelihood (and the emission's prior) that ``start`` leads to."""
        origin = self.emission.origin(start)
        found, climbed = climb(
            rows.recentred(origin),
            self.emission.moved(start, -origin),
            ClassSteps(self.emission),
            tolerance=self.tol,
            max_iterations=max_iterations,
        )
        return Polished(self.emission.moved(found, origin), climbed)

    def _in_order(self, found: P, start: P) -> P:
        """Components as the moments have them, whichever start won; others by size, after them."""
        known = nearest(self.places(start, found), self.places(found, found))
        others = np.setdiff1d(np.argsort(-self.shares(found)), known, assume_unique=True)
        return reordered(found, np.r_[known, others])

    def _starts(
        self, some: MemoryRows, start: P, k: int, n_seeds: int, seed: Callable[[], int]
    ) -> dict[str, P]:
        """What the moments say, and components about rows that are far from each other."""
        n_known = len(self.shares(start))
        begun = self.emission.begun(start)
        if k == 1:
            return {"moments": begun}
        steps, seeding = ClassSteps(self.emission), Seeding.of(some.table)
        like = self.emission.begun(reordered(start, np.arange(k) % n_known))
        random = np.random.default_rng(seed())
        about = (seeding.shares(k, random) for _ in range(n_seeds))
        seeds = {f"seeds {i + 1}": steps.begun(some, one, like) for i, one in enumerate(about)}
        if n_known == k:
            return {"moments": begun, **seeds}
        grown = seeding.shares(k, random, self.emission.means(start))
        return {"moments": steps.begun(some, grown, like), **seeds}

    def _simpler(self, some: MemoryRows, best: P, n_some: float, kept: Survey) -> Callable[[P], P]:
        """What makes parameters no more than the table asks for."""
        emission = self.emission

        def height(parameters: P) -> float:
            found, climbed = self.climbed(some, parameters, ENOUGH)
            return (climbed.log_likelihood or 0.0) * n_some + emission.left_out(some, found)

        less = emission.simpler(best, kept)
        if less is None or height(best) > height(less) + WORTH:
            return lambda parameters: parameters
        return lambda parameters: emission.simpler(parameters, kept) or parameters

    def log_likelihood(self, block: Block, parameters: P) -> Array:
        """Of what is observed in each row; (n,)."""
        return posterior(block, self.emission, parameters).log_likelihood

    def hidden(self, block: Block, parameters: P) -> Array:
        """The probability of each component given what is observed in a row; (n, k)."""
        return posterior(block, self.emission, parameters).responsibilities

    def cells(self, block: Block, parameters: P) -> Cells:
        """Expectations over components."""
        shares = self.hidden(block, parameters)
        means, variances = self.emission.means(parameters), self.emission.variances(parameters)
        middle = means.mean(axis=0)
        centre = shares @ (means - middle)
        spread = shares @ (variances + (means - middle) ** 2) - centre**2
        return Cells(middle + centre, np.maximum(spread, 0.0))  # rounding can put it below

    def fill(self, each: Each, parameters: P, number: int, random: Any) -> list[Array]:
        """Draw the component of each row, and then its cells."""
        shares = each(lambda block: self.hidden(block, parameters))
        below, total = np.cumsum(shares, axis=1), shares.sum(axis=1, keepdims=True)

        def draw() -> Array:
            labels = (below < random.random_sample((len(shares), 1)) * total).sum(axis=1)
            return self.emission.draw(parameters, labels, random)

        return [draw() for _ in range(number)]

    def draw(self, parameters: P, n_rows: int, random: Any) -> tuple[Array, Labels]:
        """Rows without gaps, and the components they come from."""
        shares = self.shares(parameters)
        labels = random.choice(len(shares), size=n_rows, p=shares)
        return self.emission.draw(parameters, labels, random), labels

    def shares(self, parameters: Any) -> Array:
        """How common the components are; (k,)."""
        weights: Array = parameters.weights
        return weights

    def places(self, parameters: P, home: P) -> Array:
        """Means, in the spread of each feature within components; (k, d)."""
        spread = np.sqrt(self.emission.variances(home).mean(axis=0))
        places: Array = self.emission.means(parameters) / spread
        return places

    def replicated(self, rows: Rows, parameters: P, bins: Bins, weights: Array) -> list[P]:
        """By the score bootstrap, in one pass."""
        return replicated(rows, parameters, self.emission, bins, weights - 1)
