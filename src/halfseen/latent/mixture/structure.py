"""The steps of every mixture, as matrix products: posteriors, EM, and regression on them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.distributions.emission import Emission, Posterior, posterior
from halfseen.inference.em import Expected, normalised
from halfseen.inference.model import Cells, Each
from halfseen.inference.multi_start import Plan, plan_for
from halfseen.inference.parameters import select
from halfseen.latent.mixture.score_bootstrap import replicated
from halfseen.moments.regression import RegressionSums, Solution


@dataclass(frozen=True, eq=False)
class ClassSums(Sums):
    """What one E-step adds up: the likelihood, and statistics by component."""

    n_rows: float
    log_likelihood: float
    share: Array  # (k,)                       Σ r
    statistics: tuple[Array, ...]  # (k, s) each  Σ r T

    @classmethod
    def under(cls, emission: Emission[Any], parameters: Any) -> Callable[[Block], "ClassSums"]:
        """The function that runs the E-step on a block."""
        expect, log_weights = emission.expect(parameters), np.log(parameters.weights)

        def summarise(block: Block) -> ClassSums:
            n_rows = float(len(block) if block.weights is None else block.weights.sum())
            return cls(n_rows, *expect(block, log_weights))

        return summarise

    @classmethod
    def given(
        cls, emission: Emission[Any], shares: Array, parameters: Any
    ) -> Callable[[Block], "ClassSums"]:
        """The function that sums a block of which the components' ``shares`` (n, k) are known."""

        def summarise(block: Block) -> ClassSums:
            weighed = block.weighed(shares[block.start : block.start + len(block)])
            statistics = emission.given(block, weighed, parameters)
            return cls(weighed.sum(), 0.0, weighed.sum(axis=0), statistics)

        return summarise


P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class ClassRegression(Generic[P]):
    """Least squares on responsibilities.

    Targets are measured from the features' means: a component about which nothing can be said
    stays there.
    """

    emission: Emission[P]
    origin: Array  # (d,)

    def reference(self, parameters: P, features: Mask) -> P:
        """The parameters of only some of the features."""
        return select(parameters, features)

    def expectation(self, block: Block, reference: P) -> Array:
        """The components' shares in each row; (n, k)."""
        return posterior(block, self.emission, reference).responsibilities

    def solved(self, sums: RegressionSums) -> Solution:
        """Coefficients, and what they leave over."""
        coefficients = sums.least_squares()
        return Solution(coefficients, sums.residual_variance(coefficients))

    def completed(self, reference: P, complete: Mask, solution: Solution) -> P:
        """The parameters of all features, from those of the complete ones."""
        means = self.origin[~complete] + solution.coefficients.T
        return self.emission.completed(reference, complete, means, solution.left_over)


@dataclass(frozen=True, eq=False)
class ClassSteps(Generic[P]):
    """The steps of a mixture's EM."""

    emission: Emission[P]

    def expect(self, parameters: P) -> Callable[[Block], ClassSums]:
        """The function that runs the E-step on a block."""
        return ClassSums.under(self.emission, parameters)

    def maximise(self, sums: ClassSums, before: P) -> P:
        """The M-step."""
        weights = normalised(sums.share / sums.n_rows)
        return self.emission.maximise(weights, sums.statistics, before)

    def units(self, parameters: P) -> Mapping[str, Array]:
        """As the emission has it."""
        return self.emission.units(parameters)

    def within(self, parameters: P) -> P:
        """As the emission has it."""
        return self.emission.within(parameters)

    def prior(self, parameters: P) -> float:
        """As the emission has it."""
        return self.emission.prior(parameters)

    def from_responsibilities(self, rows: Rows, shares: Array, like: P) -> P:
        """Parameters that give rows the components' ``shares`` (n, k), otherwise ``like`` these."""
        return self.maximise(rows.accumulate(ClassSums.given(self.emission, shares, like)), like)


# How the components of rows depend on each other: not at all, unless somebody says so.


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

    def from_responsibilities(self, rows: Rows, shares: Array, like: Any) -> Any:
        """Parameters that give rows the components' ``shares`` (n, k), otherwise ``like`` these."""


class Law(Protocol):
    """Where the components of rows come from."""

    @property
    def final_passes(self) -> int:
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

    def finalised(self, rows: Rows, emission: Emission[Any], parameters: Any) -> Any:
        """Refined parameters as they are shown."""

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

    final_passes: ClassVar[int] = 150_000
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

    def finalised(self, rows: Rows, emission: Emission[Any], parameters: Any) -> Any:
        """As the emission has it."""
        return emission.finalised(rows, parameters)

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
