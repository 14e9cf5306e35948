"""The steps of every mixture, as matrix products: posteriors, EM, and regression on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from halfseen.method.em import normalised
from halfseen.method.learned import select
from halfseen.moments.regression import RegressionSums, Solution
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.emission import Emission


class Posterior(NamedTuple):
    """Of each row: the likelihood of what was observed, and where it came from."""

    log_likelihood: Array  # (n,)
    responsibilities: Array  # (n, k)


@dataclass(frozen=True, eq=False)
class ClassSums:
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

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.statistics, other.statistics, strict=True)
        return type(self)(
            self.n_rows + other.n_rows,
            self.log_likelihood + other.log_likelihood,
            self.share + other.share,
            tuple(one + another for one, another in pairs),
        )


def posterior(block: Block, emission: Emission[Any], parameters: Any) -> Posterior:
    """``log p(x_obs) = log Σ_k π_k Π_{d observed} p(x_d | k)``, and the components' shares."""
    joint = np.log(parameters.weights) + emission.log_densities(block, parameters)
    highest = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - highest)
    total = shares.sum(axis=1, keepdims=True)
    return Posterior((np.log(total) + highest)[:, 0], shares / total)


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

    def begun(self, rows: Rows, shares: Array, like: P) -> P:
        """Parameters that give rows the components' ``shares`` (n, k), otherwise ``like`` these."""
        return self.maximise(rows.accumulate(ClassSums.given(self.emission, shares, like)), like)
