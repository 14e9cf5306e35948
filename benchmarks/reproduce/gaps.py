"""Patterns of gaps, as data: each puts gaps into the ``incomplete`` features (indices) of a table.

All are missing completely at random but :class:`PartialRows`, which leaves the first rows whole.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from halfseen.data.arrays import Array, Labels
from halfseen.models import simulate


class Gaps(Protocol):
    """A pattern of gaps."""

    def put(self, X: Array, incomplete: Labels, rng: np.random.Generator) -> Array:
        """``X`` (n, d) with gaps."""


@dataclass(frozen=True)
class Independent:
    """Each incomplete feature is observed with a probability of its own."""

    observed: tuple[float, ...]

    def put(self, X: Array, incomplete: Labels, rng: np.random.Generator) -> Array:
        """``X`` with gaps."""
        probability = np.ones(X.shape[1])
        probability[incomplete] = self.observed
        return simulate.independent_gaps(X, probability, rng)


@dataclass(frozen=True)
class Uniform:
    """As :class:`Independent`, with probabilities drawn anew for each table."""

    low: float
    high: float

    def put(self, X: Array, incomplete: Labels, rng: np.random.Generator) -> Array:
        """``X`` with gaps."""
        probability = np.ones(X.shape[1])
        probability[incomplete] = rng.uniform(self.low, self.high, len(incomplete))
        return simulate.independent_gaps(X, probability, rng)


@dataclass(frozen=True)
class Together:
    """The incomplete features are observed all together or not at all."""

    observed: float

    def put(self, X: Array, incomplete: Labels, rng: np.random.Generator) -> Array:
        """``X`` with gaps."""
        blocks = np.zeros(X.shape[1], dtype=int)
        blocks[incomplete] = 1
        return simulate.block_gaps(X, blocks, [1.0, self.observed], rng)


@dataclass(frozen=True)
class PartialRows:
    """The first rows are whole, the others lack all incomplete features."""

    n_whole: int

    def put(self, X: Array, incomplete: Labels, rng: np.random.Generator) -> Array:
        """``X`` with gaps."""
        gappy = X.copy()
        gappy[self.n_whole :, incomplete] = np.nan
        return gappy


@dataclass(frozen=True)
class LeftOut:
    """The first few incomplete features are complete, the others are not used at all."""

    n_used: int

    def put(self, X: Array, incomplete: Labels, rng: np.random.Generator) -> Array:
        """``X`` with gaps."""
        gappy = X.copy()
        gappy[:, incomplete[self.n_used :]] = np.nan
        return gappy
