"""One elliptical cloud: a normal, a multivariate t, or one whose radius has any one-peaked law."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri_exp
from scipy.stats import chi2

from halfseen.data.arrays import Array, Labels, Mask
from halfseen.diagnostics.cluster_tendency.preprocessing import Margin, fitted_margin

LOG_2PI = float(np.log(2 * np.pi))


class Conditional(NamedTuple):
    """A normal distribution seen by each pattern of gaps."""

    inverse: Array  # (g, d, d)  of the covariance of the observed columns, zero elsewhere
    log_determinant: Array  # (g,)  of that covariance
    regression: Array  # (g, d, d)  of all columns on the observed ones
    remainder: Array  # (g, d, d)  covariance of all columns given the observed ones


@dataclass(frozen=True, eq=False)
class Gaps:
    """Rows by which of their columns are observed."""

    values: Array  # (n, d)  zero in the gaps
    observed: Mask  # (n, d)
    patterns: Mask  # (g, d)
    pattern: Labels  # (n,)

    @classmethod
    def of(cls, table: Array) -> "Gaps":
        """Of a table (n, d) with NaN in the gaps."""
        observed = ~np.isnan(table)
        if observed.all():
            pattern = np.zeros(len(table), dtype=np.intp)
            return cls(table, observed, np.ones((1, table.shape[1]), dtype=bool), pattern)
        patterns, pattern = np.unique(observed, axis=0, return_inverse=True)
        return cls(np.where(observed, table, 0.0), observed, patterns, pattern.ravel())

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return bool(self.observed.all())

    @property
    def n_observed(self) -> Array:
        """How many cells of each row are; (n,)."""
        return np.asarray(self.observed.sum(axis=1).astype(float))

    def conditional(self, covariance: Array) -> Conditional:
        """What each pattern sees of a covariance (d, d)."""
        seen = self.patterns[:, :, None] & self.patterns[:, None, :]
        eye = np.eye(len(covariance))
        within = np.where(seen, covariance, eye * ~self.patterns[:, :, None])
        inverse = np.where(seen, np.linalg.inv(within), 0.0)
        _, log_determinant = np.linalg.slogdet(within)
        regression = covariance @ inverse
        remainder = covariance - regression @ covariance
        return Conditional(inverse, log_determinant, regression, remainder)

    def distances(self, mean: Array, given: Conditional) -> Array:
        """Squared Mahalanobis distances of the observed cells from a mean (d,); (n,)."""
        deviation = np.where(self.observed, self.values - mean, 0.0)
        if len(self.patterns) == 1:
            return np.asarray(np.einsum("ni,ni->n", deviation @ given.inverse[0], deviation))
        scaled = np.einsum("nij,nj->ni", given.inverse[self.pattern], deviation)
        return np.asarray(np.einsum("ni,ni->n", scaled, deviation))

    def log_densities(self, mean: Array, given: Conditional) -> Array:
        """Of the observed cells of each row; (n,)."""
        distances = self.distances(mean, given)
        constant = given.log_determinant[self.pattern] + self.n_observed * LOG_2PI
        return -(distances + constant) / 2

    def expected(self, mean: Array, given: Conditional) -> Array:
        """Rows (n, d) with their gaps filled by what is expected given the observed cells."""
        if self.complete:
            return self.values
        deviation = np.where(self.observed, self.values - mean, 0.0)
        filled = mean + np.einsum("nij,nj->ni", given.regression[self.pattern], deviation)
        return np.where(self.observed, self.values, filled)

    def remainder(self, given: Conditional, weights: Array) -> Array:
        """The sum of the covariances of what is missing, over rows of weights (n,); (d, d)."""
        total = np.bincount(self.pattern, weights, minlength=len(self.patterns))
        return np.asarray(np.einsum("g,gij->ij", total, given.remainder))

    def drawn(self, mean: Array, covariance: Array, rng: np.random.Generator) -> Array:
        """Rows (n, d) with their gaps filled by draws given the observed cells."""
        if self.complete:
            return self.values
        given = self.conditional(covariance)
        d = len(mean)
        jitter = 1e-9 * np.trace(covariance) / d * np.eye(d)
        roots = np.linalg.cholesky(given.remainder + jitter + _seen_eye(self.patterns))
        noise = np.einsum("nij,nj->ni", roots[self.pattern], rng.normal(size=self.values.shape))
        return np.where(self.observed, self.values, self.expected(mean, given) + noise)


def log_sum_exp(values: Array, axis: int) -> Array:
    """``log Σ exp`` of finite values; SciPy's, which also takes infinities, is ten times slower."""
    largest = values.max(axis=axis, keepdims=True)
    total = np.log(np.exp(values - largest).sum(axis=axis))
    return np.asarray(total + largest.squeeze(axis))


def _seen_eye(patterns: Mask) -> Array:
    """Ones on the diagonal where columns are observed, so that the rest can be factorised."""
    return np.eye(patterns.shape[1]) * patterns[:, :, None]


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
