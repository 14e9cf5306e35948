"""Topics' shares of incomplete features, by regression on loadings predicted from complete ones."""

from dataclasses import dataclass, replace

import numpy as np

from halfseen.moments.regression import RegressionSums, Solution
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block
from halfseen.structures.loadings.loading_moments import TopicParameters
from halfseen.structures.loadings.non_negative import non_negative
from halfseen.structures.loadings.posterior import best_linear_loadings


@dataclass(frozen=True, eq=False)
class TopicRegression:
    """Non-negative least squares on predicted loadings."""

    origin: Array  # (d,)  zero: counts add up

    def reference(self, parameters: TopicParameters, features: Mask) -> TopicParameters:
        """The parameters of only some of the features."""
        return parameters.select(features)

    def expectation(self, block: Block, reference: TopicParameters) -> Array:
        """The best linear prediction of the loadings; (n, k)."""
        return best_linear_loadings(block, reference)

    def solved(self, sums: RegressionSums) -> Solution:
        """Coefficients of at least zero."""
        return Solution(non_negative(sums.gram, sums.cross), np.empty(0))

    def completed(
        self, reference: TopicParameters, complete: Mask, solution: Solution
    ) -> TopicParameters:
        """The shares of all features, from those of the complete ones."""
        topics = np.empty((len(reference.means), len(complete)))
        topics[:, complete] = reference.topics
        topics[:, ~complete] = solution.coefficients.T
        # Noise can leave a topic with no share of anything: then it is like the others together.
        lost = ~topics.any(axis=1)
        topics[lost] = reference.means @ topics
        return replace(reference, topics=topics)
