"""Topics' shares of incomplete features, by regression on loadings predicted from complete ones."""

import numpy as np
from scipy.optimize import nnls

from halfseen.core.arrays import Array, Mask
from halfseen.core.regression import RegressionSums
from halfseen.core.rows import Rows
from halfseen.core.topic_parameters import TopicParameters
from halfseen.posteriors.gamma_poisson import best_linear_loadings


def recover(rows: Rows, parameters: TopicParameters, used: Mask, complete: Mask) -> TopicParameters:
    """Shares of incomplete features, by non-negative least squares on predicted loadings.

    ``parameters`` are those of the ``used`` features; what comes back is for all of ``rows``.
    """
    reference = parameters.select(complete[used])
    targets = ~complete
    sums = rows.accumulate(
        RegressionSums.on(
            lambda block: best_linear_loadings(block, reference),
            complete,
            targets,
            np.zeros(int(targets.sum())),
        )
    )
    topics = np.empty((len(parameters.means), len(complete)))
    topics[:, complete] = reference.topics
    topics[:, targets] = _non_negative(sums).T
    return TopicParameters(topics, parameters.means, parameters.variances)


def _non_negative(sums: RegressionSums) -> Array:
    """Non-negative least squares from normal equations; (t, k)."""
    coefficients = np.empty_like(sums.cross)
    for target, (gram, cross) in enumerate(zip(sums.gram, sums.cross, strict=True)):
        # gram = R'R; a little on the diagonal keeps R invertible when loadings are collinear.
        ridge = 1e-10 * np.trace(gram) * np.eye(len(gram))
        root = np.linalg.cholesky(gram + ridge).T
        coefficients[target], _ = nnls(root, np.linalg.solve(root.T, cross))
    return coefficients
