"""Ridge regression from sums of products, its penalty chosen on rows that were held out."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from halfseen.rows.arrays import Array

PENALTIES = 10.0 ** np.arange(-0.5, 4.1, 0.5)
USUAL = 4
"""Where the search for a penalty begins."""


class Chosen(NamedTuple):
    """A penalty, and the error on rows that were held out."""

    place: int | None  # None if it is better not to regress
    error: float


def searched(
    error: Callable[[int], float], without: float, begin: int = USUAL, n: int = len(PENALTIES)
) -> Chosen:
    """Walk from the usual penalty to better ones, as long as errors on held-out rows fall.

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
    return Chosen(here, best) if best < without else Chosen(None, without)


def solved(gram: Array, products: Array, penalty: Array) -> Array:
    """``(G + diag(λ))⁻¹ b`` for a Gram matrix (p, p) and penalties (p,); (p, t)."""
    return np.asarray(cho_solve(factor(gram, penalty), products, check_finite=False))


def factor(gram: Array, penalty: Array) -> tuple[Array, bool]:
    """Of a Gram matrix with a penalty (p,) on each feature."""
    ridged = gram.copy(order="F")
    ridged[np.diag_indices_from(ridged)] += penalty
    found: tuple[Array, bool] = cho_factor(ridged, lower=True, overwrite_a=True, check_finite=False)
    return found


class Sums(NamedTuple):
    """What a regression needs of the rows of each fold."""

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
