"""The latent structure of one component a row, and its EM steps."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.distributions.emission import Emission, Posterior, posterior
from halfseen.inference.em import EMSteps, normalised
from halfseen.inference.model import Cells, Each
from halfseen.inference.multi_start import StartPlan, plan_for
from halfseen.inference.parameters import select
from halfseen.latent.score_bootstrap import replicated
from halfseen.moments.regression import RegressionSums, Solution


@dataclass(frozen=True, eq=False)
class ClassSums(Sums):
    """The sums of an E-step: likelihood, responsibilities and statistics by component."""

    n_rows: float
    log_likelihood: float
    share: Array  # (k,)                       Σ r
    statistics: tuple[Array, ...]  # (k, s) each  Σ r T

    @classmethod
    def under(cls, emission: Emission[Any], parameters: Any) -> Callable[[Block], "ClassSums"]:
        expect, log_weights = emission.expect(parameters), np.log(parameters.weights)

        def summarise(block: Block) -> ClassSums:
            n_rows = float(len(block) if block.weights is None else block.weights.sum())
            return cls(n_rows, *expect(block, log_weights))

        return summarise

    @classmethod
    def given(
        cls, emission: Emission[Any], shares: Array, parameters: Any
    ) -> Callable[[Block], "ClassSums"]:
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
        return select(parameters, features)

    def expectation(self, block: Block, reference: P) -> Array:
        return posterior(block, self.emission, reference).responsibilities

    def solved(self, sums: RegressionSums) -> Solution:
        coefficients = sums.least_squares()
        return Solution(coefficients, sums.residual_variance(coefficients))

    def completed(self, reference: P, complete: Mask, solution: Solution) -> P:
        means = self.origin[~complete] + solution.coefficients.T
        return self.emission.completed(reference, complete, means, solution.left_over)


@dataclass(frozen=True, eq=False)
class ClassSteps(EMSteps[P]):
    """The E-step and the M-step of a mixture; those of other structures differ in a few lines."""

    sums: ClassVar[type[ClassSums]] = ClassSums
    emission: Emission[P]

    def expect(self, parameters: P) -> Callable[[Block], Any]:
        return self.sums.under(self.emission, parameters)

    def maximise(self, sums: Any, before: P) -> P:
        weights = normalised(sums.share / sums.n_rows)
        return self.emission.maximise(weights, sums.statistics, before)

    def units(self, parameters: P) -> Mapping[str, Array]:
        return self.emission.units(parameters)

    def within(self, parameters: P) -> P:
        return self.emission.within(parameters)

    def prior(self, parameters: P) -> float:
        return self.emission.prior(parameters)

    def from_responsibilities(self, rows: Rows, shares: Array, like: P) -> P:
        """Parameters that give rows the components' ``shares`` (n, k), otherwise ``like`` these."""
        sums = rows.accumulate(self.sums.given(self.emission, shares, like))
        return self.maximise(sums, like)


class LatentStructure(ABC):
    """Where the components of rows come from: each row's by itself, or along a sequence.

    Required are ``posterior``, ``steps``, ``drawn``, ``draw`` and ``replicated``.
    """

    final_passes: ClassVar[int] = 0
    """Rows gone over at the end, until parameters are at rest whatever the order of few rows."""
    least_rows: ClassVar[float] = 1.0
    """Rows that must belong to a component for it to stay."""

    @abstractmethod
    def posterior(self, block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
        """The log-likelihood of each row given those before it, and its responsibilities."""

    @abstractmethod
    def steps(self, emission: Emission[Any]) -> ClassSteps[Any]:
        """The steps of EM."""

    @abstractmethod
    def drawn(
        self, each: Each, emission: Emission[Any], parameters: Any, number: int, random: Any
    ) -> Iterator[Labels]:
        """Components of all rows, drawn ``number`` times given what is observed."""

    @abstractmethod
    def draw(self, parameters: Any, n_rows: int, random: Any) -> Labels:
        """Components of new rows."""

    @abstractmethod
    def replicated(
        self, rows: Rows, parameters: Any, emission: Emission[Any], bins: Bins, more: Array
    ) -> list[Any]:
        """The maxima of replicates in which bins count ``more`` (b, g) than once."""

    def plan(self, n_rows: float) -> StartPlan:
        """How many starts there are."""
        return plan_for(n_rows)

    def uninformed(self, parameters: Any) -> Any:
        """The parameters without knowledge of where components come from."""
        return parameters

    def renormalised(self, parameters: Any) -> Any:
        """The parameters with shares that sum to one, if some components were left out."""
        return parameters

    def finalised(self, rows: Rows, emission: Emission[Any], parameters: Any) -> Any:
        """Refined parameters as they are shown."""
        return emission.finalised(rows, parameters)

    def given_other_rows(
        self, block: Block, emission: Emission[Any], parameters: Any, shares: Array, cells: Cells
    ) -> Cells:
        """Expected cells, given what other rows say of them beside components."""
        return cells

    def draws_given_other_rows(
        self, each: Each, emission: Emission[Any], parameters: Any, random: Any
    ) -> Callable[[Array, Labels], Array]:
        """The function that makes drawn rows (n, d) of drawn components (n,) heed other rows."""
        return lambda rows, labels: rows


class Independent(LatentStructure):
    """Each row has its component by itself."""

    final_passes: ClassVar[int] = 150_000

    def posterior(self, block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
        return posterior(block, emission, parameters)

    def steps(self, emission: Emission[Any]) -> ClassSteps[Any]:
        return ClassSteps(emission)

    def drawn(
        self, each: Each, emission: Emission[Any], parameters: Any, number: int, random: Any
    ) -> Iterator[Labels]:
        shares = each(lambda block: self.posterior(block, emission, parameters).responsibilities)
        below, total = np.cumsum(shares, axis=1), shares.sum(axis=1, keepdims=True)
        for _ in range(number):
            yield (below < random.random_sample((len(shares), 1)) * total).sum(axis=1)

    def draw(self, parameters: Any, n_rows: int, random: Any) -> Labels:
        weights = parameters.weights
        labels: Labels = random.choice(len(weights), size=n_rows, p=weights)
        return labels

    def replicated(
        self, rows: Rows, parameters: Any, emission: Emission[Any], bins: Bins, more: Array
    ) -> list[Any]:
        return replicated(rows, parameters, emission, bins, more)
