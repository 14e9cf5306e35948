"""Normal distributions of rows with gaps, by the patterns of the gaps."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array, Labels, Mask

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
