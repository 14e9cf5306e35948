"""Ridge regression of categories: probabilities that begin at those of the mixtures."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve

from halfseen.imputer.ridge import factor
from halfseen.rows.arrays import Array

PASSES = 12
LEAST = 1e-3
"""No category has a lower probability to begin with."""


class Part(NamedTuple):
    """Rows of which the category is known."""

    features: Array  # (n, p)
    begin: Array  # (n, l)  logarithms of probabilities before anything is regressed
    truth: Array  # (n, l)  one for the category that is there
    weights: Array | None = None  # (n,)


def begun(likely: Array) -> Array:
    """Logarithms of probabilities, none of them too low."""
    kept = np.maximum(likely, LEAST)
    logs: Array = np.log(kept / kept.sum(axis=1, keepdims=True))
    return logs


def log_loss(logits: Array, truth: Array, weights: Array | None = None) -> float:
    """Minus the log-likelihood of the categories that are there."""
    return _loss_and_chances(logits, truth, weights)[0]


def chances(logits: Array) -> Array:
    """Probabilities (n, l) from logits (n, l)."""
    found: Array = np.exp(logits - logits.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found


def _loss_and_chances(logits: Array, truth: Array, weights: Array | None) -> tuple[float, Array]:
    highest = logits.max(axis=1, keepdims=True)
    found = np.exp(logits - highest)
    total = found.sum(axis=1, keepdims=True)
    each = (np.log(total) + highest)[:, 0] - (logits * truth).sum(axis=1)
    found /= total
    return float(each.sum() if weights is None else each @ weights), found


def climbed(part: Part, gram: Array, penalty: Array, start: Array | None = None) -> Array:
    """Coefficients (p, l) of the likeliest logits ``begin + Φ w``, with a ridge.

    Every pass is a gradient, its steps scaled by one factorisation of the features' Gram matrix
    and, where that overshoots, halved; Nesterov's momentum saves passes.
    """
    chance = np.exp(part.begin)
    bend = float(np.clip((chance * (1 - chance)).mean(axis=0).max(), 0.02, 0.5))
    ready = factor(bend * gram, penalty)
    p, n_levels = part.features.shape[1], part.truth.shape[1]
    w = np.zeros((p, n_levels)) if start is None else start
    before, ahead, step, last = w, w, 1.0, np.inf
    for turn in range(PASSES):
        logits = part.begin + part.features @ ahead
        height, said = _loss_and_chances(logits, part.truth, part.weights)
        height += 0.5 * float(penalty @ (ahead**2).sum(axis=1))
        if height > last * (1 + 1e-9) and turn:
            step, ahead, before = step / 2, w, w
            last = np.inf
            continue
        last = height
        miss = part.truth - said
        if part.weights is not None:
            miss *= part.weights[:, None]
        slope = part.features.T @ miss - penalty[:, None] * ahead
        w = ahead + step * cho_solve(ready, slope, check_finite=False)
        ahead = w + (turn / (turn + 3)) * (w - before)
        before = w
    return w
