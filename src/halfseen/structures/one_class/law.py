"""How the components of rows depend on each other: not at all, unless somebody says so."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from halfseen.method.em import Expected
from halfseen.method.model import Cells, Each
from halfseen.method.starts import Plan, plan_for
from halfseen.rows.arrays import Array, Labels
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.e_step import ClassSteps, Posterior, posterior
from halfseen.structures.one_class.emission import Emission
from halfseen.structures.one_class.scores import replicated


class LawSteps(Protocol):
    """The steps of EM, and parameters that rows of known components lead to."""

    def expect(self, parameters: Any) -> Callable[[Block], Expected]:
        """The function that runs the E-step on a block."""

    def maximise(self, sums: Any, before: Any) -> Any:
        """The M-step."""

    def units(self, parameters: Any) -> Mapping[str, Array]:
        """For fields that may be any number: how far is far."""

    def within(self, parameters: Any) -> Any:
        """The same where no density overflows."""

    def prior(self, parameters: Any) -> float:
        """What is added to the log-likelihood of all rows."""

    def begun(self, rows: Rows, shares: Array, like: Any) -> Any:
        """Parameters that give rows the components' ``shares`` (n, k), otherwise ``like`` these."""


class Law(Protocol):
    """Where the components of rows come from."""

    @property
    def settling(self) -> int:
        """Rows gone over, until parameters are at rest whatever the order of few rows."""

    @property
    def least_rows(self) -> float:
        """That must belong to a component for it to stay."""

    def posterior(self, block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
        """The log-likelihood of each row given those before it, and the components' shares."""

    def steps(self, emission: Emission[Any]) -> LawSteps:
        """The steps of EM."""

    def plan(self, n_rows: float) -> Plan:
        """How many starts there are."""

    def blank(self, parameters: Any) -> Any:
        """The same, knowing nothing of where components come from."""

    def sized(self, parameters: Any) -> Any:
        """The same with shares that sum to one, if some components were left out."""

    def left_out(self, rows: Rows, emission: Emission[Any], parameters: Any) -> float:
        """What E-steps leave out of the log-likelihood, as no component changes it."""

    def settled(self, rows: Rows, emission: Emission[Any], parameters: Any) -> Any:
        """Polished parameters as they are shown."""

    def leaned(
        self, block: Block, emission: Emission[Any], parameters: Any, shares: Array, cells: Cells
    ) -> Cells:
        """What is expected in every cell, given what other rows say of it beside components."""

    def leaning(
        self, each: Each, emission: Emission[Any], parameters: Any, random: Any
    ) -> Callable[[Array, Labels], Array]:
        """The function that makes drawn rows (n, d) of drawn components (n,) heed the same."""

    def drawn(
        self, each: Each, emission: Emission[Any], parameters: Any, number: int, random: Any
    ) -> Iterator[Labels]:
        """Components of all rows, as often as asked for, given what is observed."""

    def draw(self, parameters: Any, n_rows: int, random: Any) -> Labels:
        """Components of rows that are made up."""

    def replicated(
        self, rows: Rows, parameters: Any, emission: Emission[Any], bins: Bins, more: Array
    ) -> list[Any]:
        """The maxima of replicates in which bins count ``more`` (b, g) than once."""


class Independent:
    """Each row has its component by itself."""

    settling: ClassVar[int] = 150_000
    least_rows: ClassVar[float] = 1.0

    def posterior(self, block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
        """Of each row alone."""
        return posterior(block, emission, parameters)

    def steps(self, emission: Emission[Any]) -> ClassSteps[Any]:
        """Those of a mixture."""
        return ClassSteps(emission)

    def plan(self, n_rows: float) -> Plan:
        """By how many rows there are."""
        return plan_for(n_rows)

    def blank(self, parameters: Any) -> Any:
        """Weights are all there is, and starts have their own."""
        return parameters

    def sized(self, parameters: Any) -> Any:
        """As they are: only weights are shares."""
        return parameters

    def left_out(self, rows: Rows, emission: Emission[Any], parameters: Any) -> float:
        """As the emission has it."""
        return emission.left_out(rows, parameters)

    def settled(self, rows: Rows, emission: Emission[Any], parameters: Any) -> Any:
        """As the emission has it."""
        return emission.settled(rows, parameters)

    def leaned(
        self, block: Block, emission: Emission[Any], parameters: Any, shares: Array, cells: Cells
    ) -> Cells:
        """Other rows say nothing."""
        return cells

    def leaning(
        self, each: Each, emission: Emission[Any], parameters: Any, random: Any
    ) -> Callable[[Array, Labels], Array]:
        """Other rows say nothing."""
        return lambda rows, labels: rows

    def drawn(
        self, each: Each, emission: Emission[Any], parameters: Any, number: int, random: Any
    ) -> Iterator[Labels]:
        """By their shares."""
        shares = each(lambda block: self.posterior(block, emission, parameters).responsibilities)
        below, total = np.cumsum(shares, axis=1), shares.sum(axis=1, keepdims=True)
        for _ in range(number):
            yield (below < random.random_sample((len(shares), 1)) * total).sum(axis=1)

    def draw(self, parameters: Any, n_rows: int, random: Any) -> Labels:
        """By their weights."""
        weights = parameters.weights
        labels: Labels = random.choice(len(weights), size=n_rows, p=weights)
        return labels

    def replicated(
        self, rows: Rows, parameters: Any, emission: Emission[Any], bins: Bins, more: Array
    ) -> list[Any]:
        """By the score bootstrap, in one pass."""
        return replicated(rows, parameters, emission, bins, more)
