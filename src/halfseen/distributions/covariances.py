"""The prior on covariances: components shrink towards their pooled covariance.

For covariances Σ_1 … Σ_K the log-prior is the symmetric Kullback-Leibler divergence (Jeffreys)
between normals of these covariances and one of a common covariance W,

    -κ/2 Σ_k (tr Σ_k⁻¹W + tr W⁻¹Σ_k - 2d),

at the W that makes it highest: the geometric mean ``A # H`` of the arithmetic mean A and the
harmonic mean H of the Σ_k. κ is in rows of each component. The prior

- is about spread *within* components: where their means are plays no part in it;
- is the same after any affine map of the columns (any change of units if columns are independent);
- goes to minus infinity faster than a likelihood can rise if one component shrinks to a point;
- is nothing beside a likelihood of many rows, and zero if covariances are alike.

Covariance matrices have a second prior, the Kullback-Leibler divergence in one direction only,

    -κ/2 Σ_k (tr Σ_k⁻¹H + log|Σ_k| - log|H| - d),

which is highest over H at their harmonic mean. It is an inverse-Wishart prior, shrinks the
correlations of components of few rows, and hardly holds back a covariance that is *larger* than the
others, as the symmetric divergence does. Against a collapse it does too little by itself.

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

from halfseen.data.arrays import Array

COLLAPSED = 1e-6
"""Of the mean variance of components in any direction: a component with less is on a point."""


def collapsed_variances(variances: Array) -> bool:
    """Whether a component has zero variance along a column; (k, d)."""
    return bool((variances < COLLAPSED * variances.mean(axis=0)).any())


def collapsed_covariances(covariances: Array) -> bool:
    """Whether a component has a singular covariance; (k, d, d)."""
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
    """Posterior-mode variances from sums of squares, with a prior worth ``rows`` rows.

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
    """The geometric mean ``A # H`` of arithmetic and harmonic means of covariances (k, d, d)."""
    arithmetic = covariances.mean(axis=0)
    return _geometric_mean(arithmetic, _harmonic_mean(covariances))


def _harmonic_mean(covariances: Array) -> Array:
    mean: Array = np.linalg.inv(np.linalg.inv(covariances).mean(axis=0))
    return mean


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
    """A prior ``-½ (ν log|Σ| + tr Σ⁻¹A + tr BΣ)`` on each covariance, its centres held fixed."""

    towards: Array  # A: (d, d) or (k, d, d)
    against: Array  # B: the same
    rows: float = 0.0  # ν

    @classmethod
    def about(cls, centre: Array, rows: float) -> "CovariancePrior":
        """The prior around one centre (d, d), or one per component (k, d, d)."""
        inverse: Any = np.linalg.inv(centre)
        return cls(rows * centre, rows * inverse)

    @classmethod
    def towards_harmonic_mean(cls, covariances: Array, rows: float) -> "CovariancePrior":
        """The prior around the harmonic mean of covariances (k, d, d)."""
        centre = _harmonic_mean(covariances)
        return cls(rows * centre, np.zeros_like(centre), rows)

    def times(self, other: "CovariancePrior") -> "CovariancePrior":
        """The product of two priors."""
        return CovariancePrior(
            self.towards + other.towards, self.against + other.against, self.rows + other.rows
        )


def shrunk_covariances(scatter: Array, count: Array, prior: CovariancePrior) -> Array:
    """Posterior-mode covariances (k, d, d) from scatter matrices of ``count`` (k,) rows.

    They solve ``ΣBΣ + (N + ν)Σ = NS + A``.
    """
    root: Any = np.linalg.cholesky(np.linalg.inv(prior.against))
    values, vectors = _between(root, scatter + prior.towards)
    n = count[:, None] + prior.rows
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
        height = (count + prior.rows) * np.linalg.slogdet(covariances)[1]
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


def log_prior_of_shrinkage(covariances: Array, rows: float) -> float:
    """``-κ/2 Σ_k (log|Σ_k| - log|H|)``: at the harmonic mean H the traces are K d together."""
    common = np.linalg.slogdet(_harmonic_mean(covariances))[1]
    return -0.5 * rows * float(np.sum(np.linalg.slogdet(covariances)[1] - common))


# Where mixtures of correlated columns begin.
#
# With components at μ_k the covariance of all rows is C = S + Σ, S being that of the means. What is
# known of C, from a single component, and of S, from components of independent columns, gives Σ.
#
# Other starts do not depend on how columns are turned: k-means of sphered rows
# (:mod:`halfseen.inference.multi_start`), and responsibilities that are drawn at random.

LEAST = 0.15
"""Of the variance in any direction: components leave so much at least."""


def within_components(whole: Array, weights: Array, means: Array) -> Array:
    """Within-component covariance ``Σ = C - S`` (d, d), bounded away from singular."""
    about = means - weights @ means
    root = np.linalg.cholesky(whole)
    back = np.linalg.solve(root, about.T)
    left = np.eye(len(whole)) - (back * weights) @ back.T
    values, vectors = np.linalg.eigh((left + left.T) / 2)
    side = root @ vectors
    found: Array = (side * np.maximum(values, LEAST)) @ side.T
    return (found + found.T) / 2


def sphered(rows: Array, mean: Array, covariance: Array) -> Array:
    """Complete rows (n, d) transformed to identity covariance."""
    found: Array = np.linalg.solve(np.linalg.cholesky(covariance), (rows - mean).T).T
    return found
