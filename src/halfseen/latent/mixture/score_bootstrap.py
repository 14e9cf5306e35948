"""How the likelihood of a mixture bends at its maximum, and how each bin of rows pulls at it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import pinvh
from scipy.sparse import csr_array

from halfseen.data.arrays import Array
from halfseen.data.feature_sums import FeatureSums
from halfseen.data.resampling import Bins
from halfseen.data.rows import Block, Rows
from halfseen.data.sums import Sums
from halfseen.distributions.emission import Emission, Free, posterior

P = TypeVar("P")
NO_CURVATURE = 1e-8
"""Of the largest eigenvalue: every softmax has a direction in which nothing moves."""
NOTHING_KNOWN = 20.0
"""Standard deviation of the log-odds of a probability of which there are no rows."""


@dataclass(frozen=True, eq=False)
class ScoreSums(Sums):
    """The slope of the log-likelihood, bin by bin, and its curvature over all rows.

    With u the slope of the complete-data log-likelihood of a row and B its curvature, Louis (1982):
    the row's slope is ``E[u | x]`` and its curvature ``E[B | x] - cov[u | x]``.
    """

    slope: Array  # (g, p)
    curvature: Array  # (p, p)  of minus the log-likelihood

    @classmethod
    def at(
        cls, parameters: Any, emission: Emission[Any], bins: Bins
    ) -> Callable[[Block], "ScoreSums"]:
        """The function that sums a block."""
        free = emission.free(parameters)

        def summarise(block: Block) -> ScoreSums:
            shares = posterior(block, emission, parameters).responsibilities
            return cls(*_score(block, shares, parameters.weights, free, bins))

        return summarise

    def influence(self, probabilities: NDArray[np.intp]) -> Array:
        """How far each bin moves the maximum, were it to count once more; (g, p).

        What the rows say nothing about stays where it is.
        """
        # In units in which all bend alike: rounding must not pass over features of large numbers.
        bend = np.sqrt(np.abs(np.diag(self.curvature)))
        unit = np.divide(1.0, bend, out=np.zeros_like(bend), where=bend > 0)
        scaled = unit[:, None] * self.curvature * unit
        return influence(self.slope, scaled, unit, probabilities)


def influence(
    slope: Array, curvature: Array, unit: Array, probabilities: NDArray[np.intp]
) -> Array:
    """How far each bin moves the maximum: Newton's step along its ``slope``; (g, p).

    ``curvature`` is in ``unit`` (p,) of the numbers, zero of those of which rows tell nothing. The
    sum of squares over bins is the sandwich estimate of the variance. A probability near zero or
    one is seldom seen to vary, however little is known of it, so that its variance is at least
    that of the information matrix. How much more than independent rows the bins vary is allowed
    for in that, too: the design effect, over all probabilities.
    """
    inverse = pinvh(curvature, rtol=NO_CURVATURE)
    found: Array = (slope * unit) @ inverse * unit
    known = probabilities[unit[probabilities] > 0]
    if not len(known):
        return found
    information = np.diag(curvature)[known] / unit[known] ** 2
    design_effect = np.square(slope[:, known]).sum() / information.sum()
    sandwich = np.square(found[:, known]).sum(axis=0)
    least = design_effect * np.diag(inverse)[known] * unit[known] ** 2
    variance = np.clip(np.maximum(sandwich, least), 0.0, NOTHING_KNOWN**2)
    ratio = np.divide(variance, sandwich, out=np.ones_like(least), where=sandwich > 0)
    found[:, known] *= np.sqrt(ratio)
    return found


def _score(
    block: Block, shares: Array, weights: Array, free: Free[Any], bins: Bins
) -> tuple[Array, Array]:
    n, k, p = len(block), len(weights), free.size
    apart = np.eye(k) - weights  # slopes of log π_k along the coordinates of π
    slope = np.zeros((n, p))
    slope[:, :k] = shares @ apart
    given = np.zeros((p, p))  # Σ E[u u' - B | x]
    n_rows = block.weighed(np.ones(n)).sum()
    given[:k, :k] -= n_rows * (np.diag(weights) - np.outer(weights, weights))
    for component in range(k):
        share, weight = shares[:, component], block.weighed(shares[:, component])
        where, u, bend = free.pull(block, component)
        slope[:, where] += share[:, None] * u
        given[np.ix_(where, where)] += (u.T * weight) @ u - bend(weight)
        total = weight @ u
        given[:k, :k] += weight.sum() * np.outer(apart[component], apart[component])
        given[:k, where] += np.outer(apart[component], total)
        given[where, :k] += np.outer(total, apart[component])
    weighed = block.weighed(slope)
    belongs = csr_array((np.ones(n), (bins.of(block), np.arange(n))), shape=(bins.n, n))
    return np.asarray(belongs @ weighed), slope.T @ weighed - given


def replicated(
    rows: Rows, parameters: P, emission: Emission[P], bins: Bins, multipliers: Array
) -> list[P]:
    """The maxima of the likelihood of replicates, a Newton step from that of the rows.

    The score bootstrap: replicate b counts bin g ``1 + multipliers[b, g]`` times. The steps are
    taken from probabilities with a pseudo-row more, as there is no slope at zero. Rows are gone
    over once, however many replicates there are.
    """
    origin = emission.origin(parameters)
    inside = emission.free(parameters).away_from_edges(rows.accumulate(FeatureSums.of))
    centred = emission.moved(inside, -origin)
    sums = rows.recentred(origin).accumulate(ScoreSums.at(centred, emission, bins))
    free = emission.free(centred)
    steps = multipliers @ sums.influence(free.probabilities)
    return [emission.moved(free.moved(step), origin) for step in steps]
