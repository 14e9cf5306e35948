"""Ridge regression from sums of products, with the penalty chosen on held-out rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from halfseen.data.arrays import Array, Mask

PENALTIES = 10.0 ** np.arange(-0.5, 4.1, 0.5)
USUAL = 4
"""Where the search for a penalty begins."""


class ChosenPenalty(NamedTuple):
    """A penalty, and the error on rows that were held out."""

    place: int | None  # None if it is better not to regress
    error: float


def search_penalty(
    error: Callable[[int], float], without: float, begin: int = USUAL, n: int = len(PENALTIES)
) -> ChosenPenalty:
    """Search for the penalty with the smallest held-out error, from the usual one.

    Errors are taken to have one minimum; ``without`` is the error if nothing is regressed.
    """
    known: dict[int, float] = {}

    def at(place: int) -> float:
        if place not in known:
            known[place] = error(place)
        return known[place]

    here = begin
    for step in (1, -1):
        while 0 <= here + step < n and at(here + step) < at(here):
            here += step
    best = at(here)
    return ChosenPenalty(here, best) if best < without else ChosenPenalty(None, without)


def solved(gram: Array, products: Array, penalty: Array) -> Array:
    """``(G + diag(λ))⁻¹ b`` for a Gram matrix (p, p) and penalties (p,); (p, t)."""
    return np.asarray(cho_solve(factor(gram, penalty), products, check_finite=False))


def factor(gram: Array, penalty: Array) -> tuple[Array, bool]:
    """The Cholesky factor of a Gram matrix with a penalty (p,)."""
    ridged = gram.copy(order="F")
    ridged[np.diag_indices_from(ridged)] += penalty
    found: tuple[Array, bool] = cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)
    return found


class Sums(NamedTuple):
    """Sums for a regression, by fold."""

    grams: Array  # (f, p, p)
    products: Array  # (f, p)  Σ φ y
    squares: Array  # (f,)     Σ y²


def held_out_solutions(sums: Sums, penalty: Array) -> Array:
    """Coefficients for each fold, learned from the others; (f, p)."""
    gram, products = sums.grams.sum(axis=0), sums.products.sum(axis=0)
    pairs = zip(sums.grams, sums.products, strict=True)
    return np.array([solved(gram - one, products - own, penalty) for one, own in pairs])


def squares_left(sums: Sums, solutions: Array) -> Array:
    """Squares that ``solutions`` (f, p) leave of each fold; (f,)."""
    return np.array(
        [
            square - 2 * products @ w + w @ gram @ w
            for gram, products, square, w in zip(*sums, solutions, strict=True)
        ]
    )


def held_out_errors(sums: Sums, penalty: Array) -> Array:
    """Squares that regressions leave of each fold, learned from the others; (f,)."""
    return squares_left(sums, held_out_solutions(sums, penalty))


@dataclass(frozen=True, eq=False)
class Grams:
    """``Σ ω φφ'`` by fold, from which those of each column follow.

    Most columns are known in most rows: it is faster to take away the others.
    """

    features: Array  # (n, p)
    weights: Array | None  # (n,)  how often each row counts
    folds: NDArray[np.intp]  # (n,)
    n_folds: int
    every: Array  # (f, p, p)

    @classmethod
    def of(
        cls, features: Array, folds: NDArray[np.intp], n_folds: int, weights: Array | None = None
    ) -> "Grams":
        """Of all rows."""
        every = [_gram(features, weights, np.flatnonzero(folds == f)) for f in range(n_folds)]
        return cls(features, weights, folds, n_folds, np.array(every))

    def over(self, rows: Mask) -> Array:
        """Over some ``rows`` (n,) of each fold; (f, p, p)."""
        found = np.empty_like(self.every)
        for f in range(self.n_folds):
            here = self.folds == f
            inside, outside = np.flatnonzero(here & rows), np.flatnonzero(here & ~rows)
            if len(inside) <= len(outside):
                found[f] = _gram(self.features, self.weights, inside)
            else:
                found[f] = self.every[f] - _gram(self.features, self.weights, outside)
        return found


def _gram(features: Array, weights: Array | None, rows: NDArray[np.intp]) -> Array:
    part = features[rows]
    gram: Array = part.T @ (part if weights is None else part * weights[rows, None])
    return gram


PASSES, AGAIN = 12, 5
"""Over the rows; and from where another penalty, or other rows, led."""
LEAST = 1e-3
"""No category has a lower probability to begin with."""
Singles = NDArray[np.float32]
"""Twice as fast, and exact enough for steps that the next pass corrects."""


class KnownRows(NamedTuple):
    """Rows with an observed category."""

    features: Singles  # (n, p)
    begin: Singles  # (n, l)  logarithms of probabilities before anything is regressed
    truth: Singles  # (n, l)  one for the category that is there
    weights: Singles | None = None  # (n,)

    @classmethod
    def of(
        cls, features: Array, begin: Array, truth: Array, weights: Array | None = None
    ) -> "KnownRows":
        """In single precision."""
        own = None if weights is None else weights.astype(np.float32)
        return cls(
            features.astype(np.float32), begin.astype(np.float32), truth.astype(np.float32), own
        )

    def rows(self, which: Any) -> "KnownRows":
        """Some of them."""
        own = None if self.weights is None else self.weights[which]
        return KnownRows(self.features[which], self.begin[which], self.truth[which], own)

    def log_loss(self, coefficients: Array) -> float:
        """Minus the log-likelihood of the categories that are there, by coefficients (p, l)."""
        logits = self.begin + self.features @ coefficients.astype(np.float32)
        return _loss_and_chances(logits, self.truth, self.weights)[0]


def log_probabilities(likely: Array) -> Array:
    """Log-probabilities, bounded below."""
    kept = np.maximum(likely, LEAST)
    logs: Array = np.log(kept / kept.sum(axis=1, keepdims=True))
    return logs


def softmax(logits: Array) -> Array:
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


def fit_softmax(
    part: KnownRows, gram: Array, penalty: Array, start: Array | None = None, passes: int = PASSES
) -> Array:
    """Ridge-penalised maximum-likelihood coefficients (p, l) of the logits ``begin + Φ w``.

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
        height, predicted = _loss_and_chances(logits, part.truth, part.weights)
        height += 0.5 * float(penalty @ (ahead.astype(float) ** 2).sum(axis=1))
        if height > last * (1 + 1e-6) and turn:
            step, ahead, before = step / np.float32(2), w, w
            last = np.inf
            continue
        last = height
        miss = part.truth - predicted
        if part.weights is not None:
            miss *= part.weights[:, None]
        slope = part.features.T @ miss - held[:, None] * ahead
        w = ahead + step * np.asarray(cho_solve(ready, slope, check_finite=False), np.float32)
        ahead = w + np.float32(turn / (turn + 3)) * (w - before)
        before = w
    return w.astype(float)
