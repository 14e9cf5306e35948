"""One elliptical cloud: a normal, a multivariate t, or one whose radius has any one-peaked law."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtri_exp
from scipy.stats import chi2

from halfseen.doubt.one_cloud.gaps import Conditional, Gaps
from halfseen.doubt.one_cloud.margins import Margin, fitted_margin
from halfseen.rows.arrays import Array

DEGREES = (3.0, 5.0, 9.0, 18.0)
"""Degrees of freedom that are tried for a multivariate t."""
PASSES, TOLERANCE = 60, 5e-5
"""Most EM passes, and the gain in nats a row below which they end."""
FARTHEST = 35.0
"""Normal scores beyond which probabilities are below what a float can hold."""
RIDGE = 1e-6
"""Added to variances of standardised columns, as a share of them."""


@dataclass(frozen=True, eq=False)
class Elliptical:
    """Location and scatter; ``degrees`` is infinite for a normal distribution."""

    mean: Array  # (d,)
    scatter: Array  # (d, d)
    degrees: float = np.inf

    @property
    def n_parameters(self) -> int:
        """Of location and scatter, and the degrees of freedom."""
        d = len(self.mean)
        return d + d * (d + 1) // 2 + int(np.isfinite(self.degrees))

    def log_densities(self, rows: Gaps, given: Conditional | None = None) -> Array:
        """Of the observed cells of each row; (n,)."""
        given = given or rows.conditional(self.scatter)
        if not np.isfinite(self.degrees):
            return rows.log_densities(self.mean, given)
        nu, m = self.degrees, rows.n_observed
        distances = rows.distances(self.mean, given)
        constant = gammaln((nu + m) / 2) - gammaln(nu / 2) - m / 2 * np.log(nu * np.pi)
        constant = constant - given.log_determinant[rows.pattern] / 2
        return np.asarray(constant - (nu + m) / 2 * np.log1p(distances / nu))


def fitted_normal(rows: Gaps) -> Elliptical:
    """The likeliest normal distribution."""
    return fitted_elliptical(rows, np.inf)


def fitted_diagonal(rows: Gaps) -> Elliptical:
    """The likeliest normal distribution of independent columns."""
    n = np.maximum(rows.observed.sum(axis=0), 1)
    mean = rows.values.sum(axis=0) / n
    variance = np.where(rows.observed, (rows.values - mean) ** 2, 0.0).sum(axis=0) / n
    return Elliptical(mean, np.diag(variance + 1e-12))


def fitted_elliptical(rows: Gaps, degrees: float, start: Elliptical | None = None) -> Elliptical:
    """The likeliest location and scatter, by EM over gaps and the weights of rows."""
    model = start or fitted_diagonal(rows)
    mean, scatter = model.mean, model.scatter
    n, before = len(rows.values), -np.inf
    floor = RIDGE * np.diag(np.diag(fitted_diagonal(rows).scatter))
    for _ in range(PASSES):
        model = Elliptical(mean, scatter, degrees)
        given = rows.conditional(scatter)
        now = float(model.log_densities(rows, given).mean())
        if now - before < TOLERANCE:
            break
        before = now
        weights = np.ones(n)
        if np.isfinite(degrees):
            weights = (degrees + rows.n_observed) / (degrees + rows.distances(mean, given))
        filled = rows.expected(mean, given)
        mean = weights @ filled / weights.sum()
        deviation = filled - mean
        # What is missing varies by the scatter over the row's weight, which cancels it here.
        scatter = (deviation * weights[:, None]).T @ deviation
        scatter = (scatter + rows.remainder(given, np.ones(n))) / n + floor
    return Elliptical(mean, scatter, degrees)


@dataclass(frozen=True, eq=False)
class Radial:
    """An elliptical distribution whose radius has any one-peaked distribution.

    The squared radius of a normal row is chi-squared, so that the probability of a smaller one is
    uniform and its normal score ``w`` standard normal; here ``w`` has a sinh-arcsinh distribution.
    Balls, shells and heavy tails are such clouds. With gaps, the observed cells are.
    """

    normal: Elliptical
    radius: Margin

    @property
    def n_parameters(self) -> int:
        """Of the normal distribution, and of the radius."""
        return self.normal.n_parameters + 4

    def log_densities(self, rows: Gaps) -> Array:
        """Of the observed cells of each row; (n,)."""
        w = _radius_scores(self.normal, rows)
        z, log_jacobian = self.radius.scores(w)
        own = -(z**2) / 2 + log_jacobian + w**2 / 2
        return np.asarray(self.normal.log_densities(rows) + own)


def fitted_radial(rows: Gaps, normal: Elliptical) -> Radial:
    """The likeliest radius around the mean and scatter of a normal distribution."""
    return Radial(normal, fitted_margin(_radius_scores(normal, rows)))


def _radius_scores(normal: Elliptical, rows: Gaps) -> Array:
    """Normal scores (n,) of the probability of a smaller radius."""
    given = rows.conditional(normal.scatter)
    squared, m = rows.distances(normal.mean, given), rows.n_observed
    lower, upper = chi2.logcdf(squared, m), chi2.logsf(squared, m)
    found = np.where(lower < upper, ndtri_exp(lower), -ndtri_exp(upper))
    return np.clip(found, -FARTHEST, FARTHEST)
