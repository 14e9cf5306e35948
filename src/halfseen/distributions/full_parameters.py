"""Parameters of mixtures of normals with any covariance."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from halfseen.data.arrays import Array
from halfseen.distributions.covariances import (
    CovariancePrior,
    between_own_variances,
    common_covariance,
    log_prior_of_correlations,
    log_prior_of_covariances,
    log_prior_of_shrinkage,
    no_lower,
    shrunk_covariances,
)
from halfseen.distributions.outlier_limits import Fenced
from halfseen.inference.parameters import ANY, DEFINITE, SHARE, learned


@dataclass(frozen=True, eq=False)
class FullParameters(Fenced):
    """``x | component k ~ N(μ_k, Σ_k)`` with probability π_k."""

    weights: Array = learned("weights_", "k", SHARE)  # π
    means: Array = learned("means_", "kd", ANY)  # μ
    covariances: Array = learned("covariances_", ("de", "kde"), DEFINITE, 0.0)  # Σ, (k, d, d)

    @property
    def variances(self) -> Array:
        """Of each feature in each component; (k, d)."""
        return np.diagonal(self.covariances, axis1=1, axis2=2)


# Means and covariances from what an E-step sums, with the prior of components and of pairs.
#
# Covariances that differ have the two priors of :mod:`halfseen.distributions.covariances`. Where
# few rows hold a pair of columns together there is another one, on correlations, as a covariance
# could be singular there: the same divergence, of each covariance from the nearest normal without
# correlations. It does not depend on the units of columns.

SHRINKAGE_ROWS = 1.0
"""κ, rows of each component for each column: the weight of the components' harmonic mean. Held-out
rows of wine, iris and diabetes gain up to 3 nats each, and none are lost where components have
covariances of their own (``python -m benchmarks.covariances prior``)."""
COLLAPSE_ROWS = 0.03
"""δ, rows of each component for each column: the weight of the symmetric divergence, which alone
outweighs the likelihood of a component that shrinks to a point, and so may be small."""
PAIR_ROWS = 2.0
"""ν, where a pair of columns is there in no more rows than there are columns."""
VANISHED = 1e-8
"""Rows of a component that say nothing of it."""
ENOUGH_ROWS = 2.0
"""Rows that hold a pair, for each column, with which no prior on correlations is needed."""


class Prior(NamedTuple):
    """How strong the priors are, in rows of each component."""

    shrinkage: float  # κ
    collapse: float  # δ
    unrelated: float  # ν

    @classmethod
    def of(cls, strength: float, n_columns: int, fewest_together: float, tied: bool) -> "Prior":
        """From how many rows hold the pair of columns that is there together least often.

        Less the rows that the means of components beyond the first take.
        """
        lacking = np.clip(ENOUGH_ROWS - fewest_together / n_columns, 0.0, 1.0)
        each = 0.0 if tied else strength * n_columns
        unrelated = strength * PAIR_ROWS * float(lacking)
        return cls(SHRINKAGE_ROWS * each, COLLAPSE_ROWS * each, unrelated)


def maximised(
    weights: Array,
    sums: tuple[Array, ...],
    before: FullParameters,
    prior: Prior,
    floor: Array,
    tied: bool,
) -> FullParameters:
    """``δ = Σs/N, μ⁺ = μ + δ, NS = N(Σ - δδ') + ΣPΣ``, and the prior's pull at S."""
    total, _, first, second = sums
    n, covariances = total[:, 0], before.covariances
    gone = n < VANISHED
    n = np.where(gone, VANISHED, n)  # no row is left of it: it stays as it was
    first, second = (
        np.where(gone.reshape(-1, *[1] * (x.ndim - 1)), 0.0, x) for x in (first, second)
    )
    step = np.einsum("kde,ke->kd", covariances, first) / n[:, None]
    scatter = n[:, None, None] * (covariances - step[:, :, None] * step[:, None, :])
    scatter = scatter + covariances @ second @ covariances
    scatter = (scatter + scatter.swapaxes(1, 2)) / 2
    after = replace(before, weights=weights, means=before.means + step)
    if tied:
        scatter, n, covariances = scatter.sum(0)[None], n.sum()[None], covariances[:1]
    priors = []
    if prior.collapse and len(n) > 1:
        priors.append(CovariancePrior.towards_harmonic_mean(covariances, prior.shrinkage))
        priors.append(CovariancePrior.about(common_covariance(covariances), prior.collapse))
    if prior.unrelated:
        priors.append(CovariancePrior.about(between_own_variances(covariances), prior.unrelated))
    if priors:
        both = reduce(CovariancePrior.times, priors)
        found = shrunk_covariances(scatter, n, both)
        above = lifted(found, floor)
        if above is not found:  # the highest place above the floor has no closed form then
            found = no_lower(above, covariances, scatter, n, both)
    else:
        found = lifted(scatter / n[:, None, None], floor)
    return replace(after, covariances=np.repeat(found, len(weights), axis=0) if tied else found)


def log_prior(parameters: FullParameters, prior: Prior, tied: bool) -> float:
    """What the prior adds to the log-likelihood of all rows."""
    some = parameters.covariances[:1] if tied else parameters.covariances
    height = 0.0
    if prior.collapse and len(some) > 1:
        height += log_prior_of_shrinkage(some, prior.shrinkage)
        height += log_prior_of_covariances(some, prior.collapse)
    if prior.unrelated:
        height += log_prior_of_correlations(some, prior.unrelated)
    return height


def lifted(covariances: Array, floor: Array) -> Array:
    """Where ``-log|Σ| - tr Σ⁻¹ S`` is highest with no direction of Σ below F; S (k, d, d).

    F is diagonal, with ``floor`` (d,) on it. With ``F^-½ S F^-½ = U Λ U'`` that is
    ``F^½ U max(Λ, 1) U' F^½``. Each cell then has at least the variance F given all others of its
    row. A floor of zero holds for none of the features.
    """
    if not floor.any():
        return covariances
    try:
        np.linalg.cholesky(covariances - np.diag(floor))
    except np.linalg.LinAlgError:
        scale = np.sqrt(np.outer(floor, floor))
        values, vectors = np.linalg.eigh(covariances / scale)
        above = (vectors * np.maximum(values, 1.0)[:, None, :]) @ vectors.swapaxes(1, 2)
        found: Array = (above + above.swapaxes(1, 2)) / 2 * scale
        return found
    return covariances
