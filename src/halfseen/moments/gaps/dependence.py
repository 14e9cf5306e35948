"""Whether features are missing independently of each other."""

import numpy as np

from halfseen.rows.arrays import Array
from halfseen.rows.feature_sums import fraction_of

INDEPENDENT_BELOW = 5.0
"""The largest standardised deviation, over all pairs, that chance is still likely to give."""


def dependence_of_gaps(count: Array, n_rows: float) -> float:
    """How far joint counts (d, d) are from what independent gaps would give, at the worst pair.

    Zero if fewer than two features have gaps.
    """
    return float(np.abs(joint_excess(count, n_rows)).max(initial=0.0))


def joint_excess(count: Array, n_rows: float) -> Array:
    """How much more often than by chance pairs are observed together, in standard deviations.

    ``N_ij N / (N_i N_j) - 1`` over its standard deviation under independence,
    ``√((1 - p_i)(1 - p_j) / (N p_i p_j))``; (d, d), zero on the diagonal and for features without
    gaps or without values.
    """
    fraction = fraction_of(count.diagonal(), n_rows)
    gappy = (fraction < 1) & (fraction > 0)
    p = fraction[gappy]
    excess = count[np.ix_(gappy, gappy)] / (n_rows * np.outer(p, p)) - 1
    spread = np.sqrt(np.outer((1 - p) / p, (1 - p) / p) / n_rows)
    every = np.zeros(count.shape)
    every[np.ix_(gappy, gappy)] = excess / spread
    np.fill_diagonal(every, 0.0)
    return every
