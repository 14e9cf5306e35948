"""Means of incomplete features, by regression on the components' shares."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from halfseen.method.learned import select
from halfseen.method.regression import RegressionSums, Solution
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block
from halfseen.structures.one_class.e_step import posterior
from halfseen.structures.one_class.emission import Emission

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
