"""The prior on covariances that differ between components: none of them is far from their centre.

For covariances Σ_1 … Σ_K the log-prior is the symmetric Kullback-Leibler divergence (Jeffreys)
between normals of these covariances and one of a common covariance W,

    -κ/2 Σ_k (tr Σ_k⁻¹W + tr W⁻¹Σ_k - 2d),

at the W that makes it highest: the geometric mean ``A # H`` of the arithmetic mean A and the
harmonic mean H of the Σ_k. κ is in rows of each component. The prior

- is about spread *within* components: where their means are plays no part in it;
- is the same after any affine map of the columns (any change of units if columns are independent);
- goes to minus infinity faster than a likelihood can rise if one component shrinks to a point;
- is nothing beside a likelihood of many rows, and zero if covariances are alike.

With W of the step before, the M-step has a closed form: the stationary point of
``-N/2 (log|Σ| + tr Σ⁻¹S)`` plus the prior solves ``κ ΣW⁻¹Σ + N Σ = N S + κ W``, a Riccati equation
whose solution has the eigenvectors of its right side in coordinates in which W is the identity. W
is then renewed: each step raises the penalised likelihood or leaves it (ECM: X.-L. Meng, D. Rubin
1993).

References
----------
R. Bhatia (2007), Positive definite matrices. G. Celeux, G. Govaert (1995), Gaussian
parsimonious clustering models. C. Fraley, A. Raftery (2007), Bayesian regularization for normal
mixture estimation and model-based clustering.
"""

from typing import Any, NamedTuple

import numpy as np

from halfseen.rows.arrays import Array

COLLAPSED = 1e-6
"""Of the mean variance of components in any direction: a component with less is on a point."""


def collapsed_variances(variances: Array) -> bool:
    """Whether a component has no spread along a column; (k, d)."""
    return bool((variances < COLLAPSED * variances.mean(axis=0)).any())


def collapsed_covariances(covariances: Array) -> bool:
    """Whether a component has no spread in some direction; (k, d, d)."""
    try:
        root = np.linalg.cholesky(covariances.mean(axis=0))
    except np.linalg.LinAlgError:
        return True
    return bool((_between(root, covariances)[0] < COLLAPSED).any())


def common_variances(variances: Array) -> Array:
    """The geometric mean of arithmetic and harmonic means over components; (k, …) to (…)."""
    centre: Array = np.sqrt(variances.mean(axis=0) / (1 / variances).mean(axis=0))
    return centre


def shrunk_variances(squares: Array, count: Array, before: Array, rows: float) -> Array:
    """Variances from sums of squares about the means of so many cells, with a prior of ``rows``.

    All are (k, …); the common variance is that of ``before``.
    """
    centre = common_variances(before)
    right = squares + rows * centre
    # The positive root of κ v²/W + N v - (SS + κ W), in a form that loses no digits.
    found: Array = 2 * right / (count + np.sqrt(count**2 + 4 * rows / centre * right))
    return found


def log_prior_of_variances(variances: Array, rows: float) -> float:
    """``-κ Σ_d (√(Σ_k v_kd Σ_k 1/v_kd) - K)`` for variances (k, d)."""
    both = np.sqrt(variances.sum(axis=0) * (1 / variances).sum(axis=0))
    return -rows * float(np.sum(both - len(variances)))


def common_covariance(covariances: Array) -> Array:
    """``A # H`` of covariances (k, d, d)."""
    arithmetic = covariances.mean(axis=0)
    harmonic = np.linalg.inv(np.linalg.inv(covariances).mean(axis=0))
    return _geometric_mean(arithmetic, harmonic)


def _geometric_mean(one: Array, other: Array) -> Array:
    root: Any = np.linalg.cholesky(one)
    values, vectors = _between(root, other)
    side = root @ vectors
    mean: Array = (side * np.sqrt(values)) @ side.T
    return mean


def _between(root: Array, matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues and vectors of ``L⁻¹ M L⁻ᵀ``, which is positive."""
    half = np.linalg.solve(root, matrix)
    turned = np.linalg.solve(root, half.swapaxes(-1, -2))
    values, vectors = np.linalg.eigh((turned + turned.swapaxes(-1, -2)) / 2)
    return np.maximum(values, 0.0), vectors


class CovariancePrior(NamedTuple):
    """A prior ``-½ (tr Σ⁻¹A + tr BΣ)`` on each covariance, with its centres held fixed."""

    towards: Array  # A: (d, d) or (k, d, d)
    against: Array  # B: the same

    @classmethod
    def about(cls, centre: Array, rows: float) -> "CovariancePrior":
        """From the divergence from one centre (d, d), or one each (k, d, d)."""
        inverse: Any = np.linalg.inv(centre)
        return cls(rows * centre, rows * inverse)

    def times(self, other: "CovariancePrior") -> "CovariancePrior":
        """The product of two priors, whose logarithms add."""
        return CovariancePrior(self.towards + other.towards, self.against + other.against)


def shrunk_covariances(scatter: Array, count: Array, prior: CovariancePrior) -> Array:
    """Covariances (k, d, d) from scatter matrices about the means of ``count`` (k,) rows each.

    They solve ``ΣBΣ + NΣ = NS + A``.
    """
    root: Any = np.linalg.cholesky(np.linalg.inv(prior.against))
    values, vectors = _between(root, scatter + prior.towards)
    n = count[:, None]
    values = 2 * values / (n + np.sqrt(n**2 + 4 * values))
    side = root @ vectors
    found: Array = (side * values[:, None, :]) @ side.swapaxes(1, 2)
    return found


HALVINGS = 10


def no_lower(
    found: Array, before: Array, scatter: Array, count: Array, prior: CovariancePrior
) -> Array:
    """Covariances (k, d, d) from ``before`` to ``found``, as far as what is maximised rises."""

    def heights(covariances: Array) -> Array:
        inverse = np.linalg.inv(covariances)
        height = count * np.linalg.slogdet(covariances)[1]
        height += np.sum(inverse * (scatter + prior.towards), axis=(1, 2))
        height += np.sum(prior.against * covariances, axis=(1, 2))
        return np.asarray(-height)

    least, share = heights(before), np.ones(len(before))
    for _ in range(HALVINGS):
        mixed: Array = before + share[:, None, None] * (found - before)
        lower = heights(mixed) < least
        if not lower.any():
            return mixed
        share = np.where(lower, share / 2, share)
    return np.where(lower[:, None, None], before, mixed)


def between_own_variances(covariances: Array) -> Array:
    """Diagonal matrices of ``√(Σ_dd / (Σ⁻¹)_dd)``: the nearest to each covariance; (k, d, d).

    Of the same divergence: geometric means of variances, and of variances given all other columns.
    """
    own = np.diagonal(covariances, axis1=1, axis2=2)
    given = np.diagonal(np.linalg.inv(covariances), axis1=1, axis2=2)
    found: Array = np.sqrt(own / given)[:, :, None] * np.eye(own.shape[1])
    return found


def log_prior_of_correlations(covariances: Array, rows: float) -> float:
    """The divergence from these: ``-ν Σ_d (√(Σ_dd (Σ⁻¹)_dd) - 1)`` of each covariance."""
    own = np.diagonal(covariances, axis1=1, axis2=2)
    given = np.diagonal(np.linalg.inv(covariances), axis1=1, axis2=2)
    return -rows * float(np.sum(np.sqrt(own * given) - 1))


def log_prior_of_covariances(covariances: Array, rows: float) -> float:
    """The log-prior of covariances (k, d, d)."""
    centre = common_covariance(covariances)
    apart = np.trace(np.linalg.solve(covariances, centre[None]), axis1=1, axis2=2)
    apart += np.trace(np.linalg.solve(centre, covariances), axis1=1, axis2=2)
    return -0.5 * rows * float(np.sum(apart - 2 * len(centre)))
