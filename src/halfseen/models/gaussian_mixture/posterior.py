"""Posteriors of mixtures with gaps: a missing entry drops out of the product."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from halfseen.method.regression import RegressionSums, Solution
from halfseen.models.gaussian_mixture.covariance_shape import CovarianceShape
from halfseen.models.gaussian_mixture.parameters import MixtureParameters
from halfseen.rows.arrays import Array, Mask
from halfseen.rows.rows import Block


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


@dataclass(frozen=True, eq=False)
class MixtureRegression:
    """Least squares on responsibilities.

    Targets are measured from the features' means: a component about which nothing can be said
    stays there.
    """

    origin: Array  # (d,)
    shape: CovarianceShape

    def reference(self, parameters: MixtureParameters, features: Mask) -> MixtureParameters:
        """The parameters of only some of the features."""
        return parameters.select(features)

    def expectation(self, block: Block, reference: MixtureParameters) -> Array:
        """The components' shares in each row; (n, k)."""
        return posterior(block, reference).responsibilities

    def solved(self, sums: RegressionSums) -> Solution:
        """Coefficients, and what they leave over."""
        coefficients = sums.least_squares()
        return Solution(coefficients, sums.residual_variance(coefficients))

    def completed(
        self, reference: MixtureParameters, complete: Mask, solution: Solution
    ) -> MixtureParameters:
        """The means and variances of all features, from those of the complete ones."""
        means = np.empty((len(reference.weights), len(complete)))
        means[:, complete] = reference.means
        means[:, ~complete] = self.origin[~complete] + solution.coefficients.T
        variances = np.empty_like(means)
        variances[:, complete] = reference.variances
        variances[:, ~complete] = self.shape.completed(reference.variances, solution.left_over)
        return MixtureParameters(reference.weights, means, variances)
