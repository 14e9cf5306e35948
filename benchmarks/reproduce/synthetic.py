"""The paper's synthetic worlds: ten features, four components, four features with gaps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from halfseen.data.arrays import Array
from halfseen.models import simulate

N_FEATURES, N_COMPONENTS, N_COMPLETE = 10, 4, 6

PATTERNS = {
    "low": (0.05, 0.05, 0.05, 0.05),
    "mid": (0.1, 0.1, 0.2, 0.2),
    "wide": (0.02, 0.1, 0.5, 0.9),
    "high": (0.8, 0.8, 0.9, 0.9),
}
"""Fractions observed of the features with gaps."""


@dataclass(frozen=True, eq=False)
class World:
    """A true model to draw from."""

    components: Array  # (k, d)
    weights: Array  # (k,)  shares of a mixture, shapes of topics
    draw: Callable[[int, np.random.Generator], Array]


def gaussian_world(rng: np.random.Generator) -> World:
    """Means ~ N(0, 100), σ² = 100, π ~ Dir(1)."""
    means = rng.normal(0, 10, (N_COMPONENTS, N_FEATURES))
    weights = rng.dirichlet(np.ones(N_COMPONENTS))
    return World(
        means, weights, lambda n, r: simulate.gaussian_mixture(n, weights, means, 100.0, r)[0]
    )


def gamma_poisson_world(shape: float, mean_length: float) -> Callable[[np.random.Generator], World]:
    """Topics ~ Dir(1), all shapes alike, the rate that gives rows their mean length."""
    shapes = np.full(N_COMPONENTS, shape)
    rate = shapes.sum() / mean_length

    def world(rng: np.random.Generator) -> World:
        topics = rng.dirichlet(np.ones(N_FEATURES), N_COMPONENTS)
        return World(
            topics, shapes, lambda n, r: simulate.gamma_poisson(n, topics, shapes, rate, r)[0]
        )

    return world


def table(
    make: Callable[[np.random.Generator], World], pattern: tuple[float, ...], n: int, seed: int
) -> tuple[World, Array]:
    """A world and ``n`` rows of it with gaps: the same for the same seed, whatever is compared."""
    rng = np.random.default_rng(seed)
    world = make(rng)
    observed = np.concatenate([np.ones(N_COMPLETE), pattern])
    return world, simulate.independent_gaps(world.draw(n, rng), observed, rng)
