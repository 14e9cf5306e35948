"""What a sweep over rows says of topics and of the law of their shares, and the M-step from it.

Reference
---------
T. Minka (2000), Estimating a Dirichlet distribution.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import digamma, polygamma

from halfseen.models.lda.parameters import LdaParameters
from halfseen.rows.arrays import Array

LEAST_ALPHA, MOST_ALPHA = 1e-4, 1e4


@dataclass(frozen=True, eq=False)
class ShareSums:
    """What the M-step needs of one sweep, by weight of the rows."""

    n_rows: float  # in which anything is counted
    split: Array  # (d, k)    Σ E[count of d that came from k]
    exposure: Array  # (d, k)  Σ E[α_k] over the rows in which d is observed
    log_share: Array  # (k,)  Σ E[log θ_k]

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.split + other.split,
            self.exposure + other.exposure,
            self.log_share + other.log_share,
        )

    def times(self, factor: float) -> Self:
        """The same of as many rows, all that is expected in them being scaled."""
        return type(self)(
            self.n_rows * factor,
            self.split * factor,
            self.exposure * factor,
            self.log_share * factor,
        )

    def maximise(
        self, before: LdaParameters, smoothing: float, concentration: float | None
    ) -> LdaParameters:
        """The M-step: shares are counts over exposures, with ``smoothing`` items of each feature.

        Features that fewer rows have are smoothed by as much less.
        """
        most = np.maximum(self.exposure.max(axis=0), np.finfo(float).tiny)  # (k,)
        seen = np.maximum(self.exposure / most, 1e-9)
        topics = (self.split / seen + smoothing).T  # (k, d)
        alpha = before.shapes
        if self.n_rows > 0:
            alpha = likeliest_alpha(alpha, self.log_share / self.n_rows)
        if concentration is not None:
            alpha = concentration * alpha / alpha.sum()
        normal = topics / topics.sum(axis=1, keepdims=True)
        return LdaParameters(normal, alpha, before.length_shape, before.rate)


def likeliest_alpha(alpha: Array, mean_log: Array, n_steps: int = 20) -> Array:
    """Of a Dirichlet law with such means of log θ_k (k,), by Newton from ``alpha`` (k,).

    A single share is one, whatever the law.
    """
    for _ in range(n_steps if len(alpha) > 1 else 0):
        slope = digamma(alpha.sum()) - digamma(alpha) + mean_log
        own, shared = -polygamma(1, alpha), polygamma(1, alpha.sum())
        common = (slope / own).sum() / (1 / shared + (1 / own).sum())
        step = np.clip((slope - common) / own, -alpha, 0.7 * alpha)  # at most so much at once
        alpha = np.clip(alpha - step, LEAST_ALPHA, MOST_ALPHA)
        if np.abs(step / alpha).max() < 1e-10:
            break
    return alpha
