"""Ridge regression of categories: probabilities that begin at those of the mixtures."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve

from halfseen.imputer.ridge import factor
from halfseen.rows.arrays import Array

PASSES, AGAIN = 12, 5
"""Over the rows; and from where another penalty, or other rows, led."""
LEAST = 1e-3
"""No category has a lower probability to begin with."""
Singles = NDArray[np.float32]
"""Twice as fast, and exact enough for steps that the next pass corrects."""


class Part(NamedTuple):
    """Rows of which the category is known."""

    features: Singles  # (n, p)
    begin: Singles  # (n, l)  logarithms of probabilities before anything is regressed
    truth: Singles  # (n, l)  one for the category that is there
    weights: Singles | None = None  # (n,)

    @classmethod
    def of(
        cls, features: Array, begin: Array, truth: Array, weights: Array | None = None
    ) -> "Part":
        """In single precision."""
        own = None if weights is None else weights.astype(np.float32)
        return cls(
            features.astype(np.float32), begin.astype(np.float32), truth.astype(np.float32), own
        )

    def rows(self, which: Any) -> "Part":
        """Some of them."""
        own = None if self.weights is None else self.weights[which]
        return Part(self.features[which], self.begin[which], self.truth[which], own)

    def log_loss(self, coefficients: Array) -> float:
        """Minus the log-likelihood of the categories that are there, by coefficients (p, l)."""
        logits = self.begin + self.features @ coefficients.astype(np.float32)
        return _loss_and_chances(logits, self.truth, self.weights)[0]


def begun(likely: Array) -> Array:
    """Logarithms of probabilities, none of them too low."""
    kept = np.maximum(likely, LEAST)
    logs: Array = np.log(kept / kept.sum(axis=1, keepdims=True))
    return logs


def chances(logits: Array) -> Array:
    """Probabilities (n, l) from logits (n, l)."""
    found: Array = np.exp(logits - logits.max(axis=1, keepdims=True))
    found /= found.sum(axis=1, keepdims=True)
    return found


def _loss_and_chances(
    logits: Singles, truth: Singles, weights: Singles | None
) -> tuple[float, Singles]:
    highest = logits.max(axis=1, keepdims=True)
    found = np.exp(logits - highest)
    total = found.sum(axis=1, keepdims=True)
    each = (np.log(total) + highest)[:, 0] - (logits * truth).sum(axis=1)
    found /= total
    each = each.astype(float)
    return float(each.sum() if weights is None else each @ weights), found


def climbed(
    part: Part, gram: Array, penalty: Array, start: Array | None = None, passes: int = PASSES
) -> Array:
    """Coefficients (p, l) of the likeliest logits ``begin + Φ w``, with a ridge.

    Every pass is a gradient, its steps scaled by one factorisation of the features' Gram matrix
    and, where that overshoots, halved; Nesterov's momentum saves passes.
    """
    chance = np.exp(part.begin)
    bend = float(np.clip((chance * (1 - chance)).mean(axis=0).max(), 0.02, 0.5))
    root, lower = factor(bend * gram, penalty)
    ready = root.astype(np.float32), lower
    held = penalty.astype(np.float32)
    p, n_levels = part.features.shape[1], part.truth.shape[1]
    w = np.zeros((p, n_levels), np.float32) if start is None else start.astype(np.float32)
    before, ahead, step, last = w, w, np.float32(1.0), np.inf
    for turn in range(passes):
        logits = part.begin + part.features @ ahead
        height, said = _loss_and_chances(logits, part.truth, part.weights)
        height += 0.5 * float(penalty @ (ahead.astype(float) ** 2).sum(axis=1))
        if height > last * (1 + 1e-6) and turn:
            step, ahead, before = step / np.float32(2), w, w
            last = np.inf
            continue
        last = height
        miss = part.truth - said
        if part.weights is not None:
            miss *= part.weights[:, None]
        slope = part.features.T @ miss - held[:, None] * ahead
        w = ahead + step * np.asarray(cho_solve(ready, slope, check_finite=False), np.float32)
        ahead = w + np.float32(turn / (turn + 3)) * (w - before)
        before = w
    return w.astype(float)
