"""Posteriors of mixtures with gaps: a missing entry drops out of the product."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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
    joint = _log_densities(block, parameters)
    joint += np.log(parameters.weights)[:, None]
    return normalised(joint)


def normalised(joint: Array) -> MixturePosterior:
    """The posterior from ``log π_k p(x|k)`` (k, n), which is overwritten.

    Components in rows: what is done over components then runs along memory.
    """
    highest = joint.max(axis=0)
    joint -= highest
    shares = np.exp(joint, out=joint)
    total = shares.sum(axis=0)
    shares /= total
    return MixturePosterior(np.log(total) + highest, shares.T)


def _log_densities(block: Block, parameters: MixtureParameters) -> Array:
    """``Σ_{d observed} log N(x_d; a_kd, σ²_kd)`` for all components and rows; (k, n)."""
    # From the middle of the means, so that squares expand without losing digits.
    origin = parameters.means.mean(axis=0)
    x, means = block.about(origin).T, parameters.means - origin
    precision = 1 / parameters.variances  # (k, d)
    densities: Array = (means * precision) @ x
    densities -= (0.5 * precision) @ (x * x)
    constants = 0.5 * (means**2 * precision + np.log(2 * np.pi * parameters.variances))
    if block.observed.all():
        densities -= constants.sum(axis=1)[:, None]
    else:
        densities -= constants @ block.observed.T.astype(float)
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
