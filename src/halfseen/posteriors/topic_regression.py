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
    shares = rows.condensed(
        RegressionSums.on(
            lambda block: best_linear_loadings(block, reference),
            complete,
            targets,
            np.zeros(int(targets.sum())),
        ),
        _non_negative,
    )
    topics = np.empty((len(parameters.means), len(complete)))
    topics[:, complete] = reference.topics
    topics[:, targets] = shares.T
    return TopicParameters(topics, parameters.means, parameters.variances)


def _non_negative(sums: RegressionSums) -> Array:
    """Non-negative least squares from normal equations; (t, k)."""
    # gram = L L'; a little on the diagonal keeps L invertible when loadings are collinear.
    trace = np.trace(sums.gram, axis1=1, axis2=2)
    ridge = 1e-10 * trace[:, None, None] * np.eye(sums.gram.shape[1])
    lower = np.linalg.cholesky(sums.gram + ridge)
    aims = np.linalg.solve(lower, sums.cross[..., None])[..., 0]
    each = zip(lower, aims, strict=True)
    return np.array([nnls(root.T, aim)[0] for root, aim in each]).reshape(sums.cross.shape)
