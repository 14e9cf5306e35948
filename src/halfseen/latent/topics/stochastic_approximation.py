"""Stochastic approximation EM: sums of drawn sweeps over rows, averaged.

Reference
---------
B. Delyon, M. Lavielle, E. Moulines (1999), Convergence of a stochastic approximation version of the
EM algorithm.
"""

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit
from halfseen.latent.topics import random_streams

P = TypeVar("P")


class SweepSums(Protocol):
    """What one sweep over the rows says; a vector space."""

    def __add__(self, other: Self) -> Self:
        """The sums of the rows of both."""

    def times(self, factor: float) -> Self:
        """The same, all that is summed being scaled."""


S = TypeVar("S", bound=SweepSums)


def stochastic_em(
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


def mixed_with_mean(topics: Array, mean: Array, share: float) -> Array:
    """Every topic (k, d) mixed with a ``share`` of the means (d,) of all rows."""
    mixed: Array = (1 - share) * topics + share * mean / mean.sum()
    return mixed


@njit(cache=True, nogil=True)
def topic_probabilities(
    topic: Array, loadings: Array, share: Array
) -> None:  # pragma: no cover - compiled
    """The chances (k,) that an item of a feature, of such shares in topics (k,), is of each."""
    total = 1e-300
    for c in range(len(share)):
        share[c] = topic[c] * loadings[c]
        total += share[c]
    for c in range(len(share)):
        share[c] /= total


@njit(cache=True, nogil=True)
def draw_split(
    count: int, share: Array, totals: Array, state: random_streams.State
) -> None:  # pragma: no cover - compiled
    """Add a multinomial draw of ``count`` items to ``totals`` (k,)."""
    k = len(share)
    if count <= 8 * k:  # one by one is faster than binomials
        for _ in range(count):
            left, c = random_streams.uniform(state), 0
            while c < k - 1 and left >= share[c]:
                left -= share[c]
                c += 1
            totals[c] += 1
        return
    chance = 1.0
    for c in range(k - 1):
        drawn = random_streams.binomial(count, min(max(share[c] / chance, 0.0), 1.0), state)
        totals[c] += drawn
        count -= drawn
        chance = max(chance - share[c], 1e-300)
    totals[k - 1] += count
