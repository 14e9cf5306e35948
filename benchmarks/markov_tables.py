"""Sequences with gaps to try things on: chains of states with normal columns."""

from typing import Any, NamedTuple

import numpy as np

from halfseen.data.arrays import Array


class Chain(NamedTuple):
    """A chain that tables are drawn from."""

    start: Array  # (k,)
    transition: Array  # (k, k)
    means: Array  # (k, d)
    stds: Array  # (k, d)


def chain(rng: np.random.Generator, k: int, d: int, staying: float = 0.6) -> Chain:
    """States that last a while, with means about one standard deviation apart in each column."""
    transition = staying * np.eye(k) + (1 - staying) * rng.dirichlet(np.ones(k), size=k)
    stds = rng.uniform(0.7, 1.3, size=(k, d))
    return Chain(rng.dirichlet(5 * np.ones(k)), transition, rng.normal(size=(k, d)), stds)


def fast(rng: np.random.Generator, k: int = 3, d: int = 8) -> Chain:
    """States that hardly last longer than chance: rows before tell little."""
    made = chain(rng, k, d, staying=0.25)
    return made._replace(start=stationary(made.transition))


def stationary(transition: Array) -> Array:
    """The law that stays as it is."""
    k = len(transition)
    system = np.vstack([transition.T - np.eye(k), np.ones(k)])
    law = np.maximum(np.linalg.lstsq(system, np.append(np.zeros(k), 1.0), rcond=None)[0], 0.0)
    shares: Array = law / law.sum()
    return shares


def draw(
    rng: np.random.Generator, of: Chain, n_sequences: int, length: int
) -> tuple[Array, np.ndarray[Any, Any]]:
    """Rows without gaps (n, d), sequence after sequence, and their states."""
    k = len(of.start)
    hidden = np.zeros((n_sequences, length), dtype=int)
    hidden[:, 0] = rng.choice(k, size=n_sequences, p=of.start)
    below = np.cumsum(of.transition, axis=1)
    for t in range(1, length):
        chance = rng.random(n_sequences)[:, None]
        hidden[:, t] = np.minimum((below[hidden[:, t - 1]] < chance).sum(axis=1), k - 1)
    states = hidden.ravel()
    return rng.normal(of.means[states], of.stds[states]), states


def with_gaps(rng: np.random.Generator, X: Array, lowest: float = 0.1) -> Array:
    """Each column observed in a share of rows of its own, from ``lowest`` to all."""
    share = rng.uniform(lowest, 1.0, size=X.shape[1])
    return np.where(rng.random(X.shape) < share, X, np.nan)


def matched(found: Array, true: Array) -> np.ndarray[Any, Any]:
    """The state that was found for each true one, by means (k, d)."""
    from scipy.optimize import linear_sum_assignment

    away = ((true[:, None] - found[None]) ** 2).sum(axis=2)
    return np.asarray(linear_sum_assignment(away)[1])
