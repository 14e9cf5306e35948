"""Topics' shares of incomplete features, by regression on loadings predicted from complete ones."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls

from halfseen.moments.regression import RegressionSums, Solution
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block
from halfseen.structures.loadings.loading_moments import TopicParameters
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
        return Solution(_non_negative(sums), np.empty(0))

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


def _non_negative(sums: RegressionSums) -> Array:
    """Non-negative least squares from normal equations; (t, k)."""
    # gram = L L'; a little on the diagonal keeps L invertible when loadings are collinear.
    trace = np.trace(sums.gram, axis1=1, axis2=2)
    ridge = 1e-10 * trace[:, None, None] * np.eye(sums.gram.shape[1])
    lower = np.linalg.cholesky(sums.gram + ridge)
    aims = np.linalg.solve(lower, sums.cross[..., None])[..., 0]
    each = zip(lower, aims, strict=True)
    return np.array([nnls(root.T, aim)[0] for root, aim in each]).reshape(sums.cross.shape)
