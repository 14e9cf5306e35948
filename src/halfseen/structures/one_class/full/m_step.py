"""Means and covariances from what an E-step sums, with the prior of components and of pairs.

Covariances that differ have the prior of :mod:`halfseen.structures.one_class.common_covariance`.
Where few rows hold a pair of columns together there is another one, on correlations, as a
covariance could be singular there: the same divergence, of each covariance from the nearest normal
without correlations. It does not depend on the units of columns.
"""

from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.structures.one_class.common_covariance import (
    CovariancePrior,
    between_own_variances,
    common_covariance,
    log_prior_of_correlations,
    log_prior_of_covariances,
    no_lower,
    shrunk_covariances,
)
from halfseen.structures.one_class.full.lifted import lifted
from halfseen.structures.one_class.full.parameters import FullParameters

ALIKE_ROWS = 1.0
"""κ, rows of each component, for each column: held-out rows of iris, wine and simulated tables were
likeliest with .6 to 2 (``python -m benchmarks.covariances prior``)."""
PAIR_ROWS = 2.0
"""ν, where a pair of columns is there in no more rows than there are columns."""
VANISHED = 1e-8
"""Rows of a component that say nothing of it."""
ENOUGH_ROWS = 2.0
"""Rows that hold a pair, for each column, with which no prior on correlations is needed."""


class Prior(NamedTuple):
    """How strong the two priors are, in rows of each component."""

    alike: float  # κ
    unrelated: float  # ν

    @classmethod
    def of(cls, strength: float, n_columns: int, fewest_together: float, tied: bool) -> "Prior":
        """From how many rows hold the pair of columns that is there together least often.

        Less the rows that the means of components beyond the first take.
        """
        lacking = np.clip(ENOUGH_ROWS - fewest_together / n_columns, 0.0, 1.0)
        alike = 0.0 if tied else strength * ALIKE_ROWS * n_columns
        return cls(alike, strength * PAIR_ROWS * float(lacking))


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
    if prior.alike and len(n) > 1:
        priors.append(CovariancePrior.about(common_covariance(covariances), prior.alike))
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
    if prior.alike and len(some) > 1:
        height += log_prior_of_covariances(some, prior.alike)
    if prior.unrelated:
        height += log_prior_of_correlations(some, prior.unrelated)
    return height
