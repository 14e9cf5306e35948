"""Latent classes by plain EM from many random starts, as poLCA has them: no prior, no tricks.

All starts go at once, and rows that are the same are one that counts more often.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
LEAST = 1e-300
"""Probability that logarithms see instead of zero."""
MOST_PASSES = 5_000
AT_REST = 1e-8
"""Nats, all rows together, that a pass gains at the end."""


def log_likelihoods(table: Array, k: int, n_starts: int, seed: int) -> Array:
    """Where plain EM ends from each random start, the log-likelihood of all rows; (n_starts,).

    Every probability of a category is uniform at first, scaled to sum to one, and classes are as
    common as each other.
    """
    rows, times = np.unique(np.where(np.isnan(table), -1.0, table), axis=0, return_counts=True)
    levels = [(d, v) for d in range(rows.shape[1]) for v in np.unique(rows[:, d]) if v >= 0]
    owner = np.array([d for d, _ in levels])
    firsts = np.searchsorted(owner, np.arange(rows.shape[1]))
    there = np.column_stack([rows[:, d] == v for d, v in levels]).astype(float)  # (n, l)
    chance = np.random.default_rng(seed).random((n_starts, k, len(levels)))
    chance /= np.add.reduceat(chance, firsts, axis=2)[:, :, owner]
    weights = np.full((n_starts, k), 1 / k)
    ended, on = np.full(n_starts, -np.inf), np.arange(n_starts)
    for _ in range(MOST_PASSES):
        log_chance = np.log(np.maximum(chance, LEAST)).reshape(-1, len(levels))
        joint = (there @ log_chance.T).reshape(len(rows), -1, k) + np.log(
            np.maximum(weights, LEAST)
        )
        highest = joint.max(axis=2, keepdims=True)
        shares = np.exp(joint - highest)  # (n, s, k)
        total = shares.sum(axis=2, keepdims=True)
        height = times @ (np.log(total) + highest)[:, :, 0]
        shares *= times[:, None, None] / total
        resting = height - ended[on] < AT_REST
        ended[on] = height
        if resting.all():
            break
        on, shares = on[~resting], shares[:, ~resting]
        weights = shares.sum(axis=0) / times.sum()
        counts = (shares.reshape(len(rows), -1).T @ there).reshape(len(on), k, -1)
        chance = counts / np.maximum(np.add.reduceat(counts, firsts, axis=2)[:, :, owner], LEAST)
    return ended
