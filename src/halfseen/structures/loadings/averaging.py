"""Stochastic approximation EM: sums of drawn sweeps over rows, averaged.

Reference
---------
B. Delyon, M. Lavielle, E. Moulines (1999), Convergence of a stochastic approximation version of the
EM algorithm.
"""

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from halfseen.rows.arrays import Array

P = TypeVar("P")


class SweepSums(Protocol):
    """What one sweep over the rows says; a vector space."""

    def __add__(self, other: Self) -> Self:
        """The sums of the rows of both."""

    def times(self, factor: float) -> Self:
        """The same, all that is summed being scaled."""


S = TypeVar("S", bound=SweepSums)


def averaged(
    start: P, n_sweeps: int, sweep: Callable[[P, int], S], maximise: Callable[[S, P], P]
) -> P:
    """Parameters after ``n_sweeps``: half to get there, half to average.

    The average gives later sweeps more weight, in proportion to their number, so that what is left
    of the way there is forgotten.
    """
    parameters, sums = start, None
    for number in range(n_sweeps):
        new, past = sweep(parameters, number), number - n_sweeps // 2
        step = 2 / (past + 2) if past > 0 else 1.0
        sums = new if sums is None else sums.times(1 - step) + new.times(step)
        parameters = maximise(sums, parameters)
    return parameters


def blurred(topics: Array, mean: Array, share: float) -> Array:
    """Every topic (k, d) mixed with a ``share`` of the means (d,) of all rows."""
    mixed: Array = (1 - share) * topics + share * mean / mean.sum()
    return mixed
