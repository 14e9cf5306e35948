"""The steps of every mixture, as matrix products: posteriors, EM, and regression on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Self, TypeVar

import numpy as np

from halfseen.method.em import normalised
from halfseen.method.learned import select
from halfseen.moments.regression import RegressionSums, Solution
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block
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
        natural = emission.natural(parameters)
        log_weights = np.log(parameters.weights)[:, None]

        def summarise(block: Block) -> ClassSums:
            statistics = emission.statistics(block.values, block.observed.astype(float))
            likelihood, shares = _shares(statistics, natural, log_weights)
            if emission.constant is not None:
                likelihood += emission.constant(block)
            if block.weights is not None:
                likelihood, shares = likelihood * block.weights, shares * block.weights
            return cls(
                n_rows=float(len(likelihood) if block.weights is None else block.weights.sum()),
                log_likelihood=float(likelihood.sum()),
                share=shares.sum(axis=1),
                statistics=tuple(shares @ each for each in statistics),
            )

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
    origin = emission.origin(parameters)
    values, mask = block.about(origin), block.observed.astype(float)
    natural = emission.natural(emission.moved(parameters, -origin))
    joint = np.log(parameters.weights)
    # Products with a row of the block in each row: its bits do not depend on the rows beside it.
    for factor, each in zip(natural, emission.statistics(values, mask), strict=True):
        joint = joint + each @ factor.T
    highest = joint.max(axis=1, keepdims=True)
    shares = np.exp(joint - highest)
    total = shares.sum(axis=1, keepdims=True)
    likelihood = (np.log(total) + highest)[:, 0]
    if emission.constant is not None:
        likelihood = likelihood + emission.constant(block)
    return Posterior(likelihood, shares / total)


def _shares(
    statistics: tuple[Array, ...], natural: tuple[Array, ...], log_weights: Array
) -> tuple[Array, Array]:
    """Log-likelihoods (n,) and the components' shares, components in rows; (k, n).

    What is done over components then runs along memory, which is faster.
    """
    joint = natural[0] @ statistics[0].T
    for factor, each in zip(natural[1:], statistics[1:], strict=True):
        joint += factor @ each.T
    joint += log_weights
    highest = joint.max(axis=0)
    joint -= highest
    shares = np.exp(joint, out=joint)
    total = shares.sum(axis=0)
    shares /= total
    return np.log(total) + highest, shares


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
