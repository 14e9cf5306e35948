"""Which features show what a topic is: those that are likely in it, and telling of it.

Of feature d in topic k, with p_d its share in all that is counted (Sievert and Shirley, 2014)::

    r_kd = λ log a_kd + (1 - λ) log(a_kd / p_d)

λ = 1 ranks by share alone, and common words lead every topic; λ = 0 by lift alone, and words that
are there once lead.
"""

import numpy as np
from numpy.typing import NDArray

from halfseen.data.arrays import Array

USUAL = 0.6
"""What people found to tell topics apart best, in the study of the same authors."""


def check_relevance(relevance: float) -> None:
    """Refuse what is no share."""
    if not 0 <= relevance <= 1:
        raise ValueError(f"relevance must be from 0 to 1. Got {relevance!r} instead.")


def most_relevant(
    topics: Array, average: Array, relevance: float, most: int
) -> list[NDArray[np.intp]]:
    """Of each topic (k, d) the most relevant features that it has at all, at most so many."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share, lift = np.log(topics), np.log(topics / average)
        score = np.where(topics > 0, relevance * share + (1 - relevance) * lift, -np.inf)
    # Features of one relevance go by share, so that the order never depends on rounding alone.
    ranked = [np.lexsort((-own, -rank)) for own, rank in zip(topics, score, strict=True)]
    return [
        order[:most][np.isfinite(rank[order[:most]])]
        for order, rank in zip(ranked, score, strict=True)
    ]
