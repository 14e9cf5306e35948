"""Posteriors of mixtures with gaps: a missing entry drops out of the product."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from halfseen.core.arrays import Array, Mask
from halfseen.core.mixture_parameters import MixtureParameters
from halfseen.core.regression import RegressionSums
from halfseen.core.rows import Block, Rows
from halfseen.posteriors.covariance_shape import CovarianceShape


class MixturePosterior(NamedTuple):
    """Of each row: the likelihood of what was observed, and where it came from."""

    log_likelihood: Array  # (n,)
    responsibilities: Array  # (n, k)


def posterior(block: Block, parameters: MixtureParameters) -> MixturePosterior:
    """``log p(x_obs) = log Σ_k π_k Π_{d observed} N(x_d; a_kd, σ²_kd)``, and the shares of k."""
    joint = _log_densities(block, parameters) + np.log(parameters.weights)
    log_likelihood = logsumexp(joint, axis=1)
    return MixturePosterior(log_likelihood, np.exp(joint - log_likelihood[:, None]))


def _log_densities(block: Block, parameters: MixtureParameters) -> Array:
    """``Σ_{d observed} log N(x_d; a_kd, σ²_kd)`` for all rows and components; (n, k)."""
    # From the middle of the means, so that squares expand without losing digits.
    origin = parameters.means.mean(axis=0)
    x, means = block.about(origin), parameters.means - origin
    precision = 1 / parameters.variances  # (k, d)
    squares = (x * x) @ precision.T - 2 * x @ (means * precision).T
    constants = means**2 * precision + np.log(2 * np.pi * parameters.variances)
    densities: Array = -0.5 * (squares + block.observed.astype(float) @ constants.T)
    return densities


def recover(
    rows: Rows,
    parameters: MixtureParameters,
    used: Mask,
    complete: Mask,
    origin: Array,
    shape: CovarianceShape,
) -> MixtureParameters:
    """Means of incomplete features, by least squares on responsibilities from complete ones.

    ``parameters`` are those of the ``used`` features; what comes back is for all of ``rows``.
    ``origin`` (d,) are the features' means, from which the incomplete ones are measured: a
    component about which nothing can be said stays there.
    """
    reference = parameters.select(complete[used])
    coefficients, left_over = rows.condensed(
        RegressionSums.on(
            lambda block: posterior(block, reference).responsibilities,
            complete,
            ~complete,
            origin[~complete],
        ),
        RegressionSums.solved,
    )
    means = np.empty((len(parameters.weights), len(complete)))
    means[:, complete] = reference.means
    means[:, ~complete] = origin[~complete] + coefficients.T
    variances = np.empty_like(means)
    variances[:, complete] = reference.variances
    variances[:, ~complete] = shape.completed(reference.variances, left_over)
    return MixtureParameters(parameters.weights, means, variances)
