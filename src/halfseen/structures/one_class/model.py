"""A mixture: everything that follows from one component a row, whatever its columns are."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from halfseen.explain.groups import Groups
from halfseen.explain.portrait import Portrait
from halfseen.method.em import climb
from halfseen.method.fit import Fitted
from halfseen.method.model import Abilities, About, Cells, Cumulants, Each, Polished
from halfseen.moments.survey import Survey
from halfseen.rows.arrays import Array, Labels
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.e_step import ClassRegression, ClassSteps, posterior
from halfseen.structures.one_class.emission import Emission
from halfseen.structures.one_class.overlap import overlap
from halfseen.structures.one_class.scores import replicated

P = TypeVar("P")


def anything(seen: Survey) -> None:
    """Any numbers will do."""


@dataclass(frozen=True, eq=False)
class OneClass(Generic[P]):
    """A mixture, from how its columns arise and how that shows in moments."""

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

    def polish(self, rows: Rows, start: P, kept: Survey, seed: Callable[[], int]) -> Polished:
        """By expectation-maximisation."""
        emission = self.emission.for_table(kept)
        origin = emission.origin(start)
        here = emission.within(emission.moved(start, -origin))
        found, height = climb(
            rows.recentred(origin),
            here,
            ClassSteps(emission),
            tolerance=self.tol,
            max_iterations=self.max_iter,
        )
        return Polished(emission.moved(found, origin), height)

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
