"""How the likelihood of a mixture bends at its maximum, and how each bin of rows pulls at it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from scipy.linalg import pinvh
from scipy.sparse import csr_array

from halfseen.rows.arrays import Array
from halfseen.rows.bins import Bins
from halfseen.rows.rows import Block, Rows
from halfseen.structures.one_class.e_step import posterior
from halfseen.structures.one_class.emission import Emission, Free

P = TypeVar("P")


@dataclass(frozen=True, eq=False)
class ScoreSums:
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

    def __add__(self, other: Self) -> Self:
        return type(self)(self.slope + other.slope, self.curvature + other.curvature)

    def steps(self, multipliers: Array) -> Array:
        """Newton's steps towards the maxima of replicates; (b, p).

        ``multipliers`` (b, g) say how much more than once each bin counts. What the rows say
        nothing about stays where it is.
        """
        # In units in which all bend alike: rounding must not pass over features of large numbers.
        bend = np.sqrt(np.abs(np.diag(self.curvature)))
        unit = np.divide(1.0, bend, out=np.zeros_like(bend), where=bend > 0)
        inverse = pinvh(unit[:, None] * self.curvature * unit)
        steps: Array = multipliers @ (self.slope * unit) @ inverse * unit
        return steps


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

    The score bootstrap: replicate b counts bin g ``1 + multipliers[b, g]`` times. Rows are gone
    over once, however many replicates there are.
    """
    origin = emission.origin(parameters)
    centred = emission.moved(parameters, -origin)
    sums = rows.recentred(origin).accumulate(ScoreSums.at(centred, emission, bins))
    free = emission.free(centred)
    return [emission.moved(free.moved(step), origin) for step in sums.steps(multipliers)]
