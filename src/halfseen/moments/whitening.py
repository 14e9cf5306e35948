"""Weights of columns, and the whitening transform.

A feature's weight multiplies its rows and columns in every moment, ``S*_ij = w_i w_j S_ij``, which
keeps a sum of K rank-one terms a sum of K rank-one terms: the same as rescaling the feature.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.messages import parameter


@dataclass(frozen=True, eq=False)
class Signal:
    """The low-rank part of the second moment, ``S = Σ_k s_k a_k ⊗ a_k``, and the rest."""

    matrix: Any  # (d, d)    S, unweighted: an array, or what multiplies like one
    noise: Array  # (d,)     ψ, the variance of each feature given the latent variables
    null: Array  # (d, m)    directions along which the latent variables do not vary, or none
    unit: Array  # (d,)      the scale on which features are alike before they are weighted

    @property
    def variance(self) -> Array:
        """The diagonal of S; (d,)."""
        diagonal: Array = self.matrix.diagonal()
        return diagonal


LEAST, MOST = 1e-50, 1e50
"""Of weights that are given: others take numbers beyond what floats hold."""
Weighting = Callable[[Array, Signal], Array]
"""From observed fractions (d,) and signal to weights (d,)."""


def observed(fraction: Array, signal: Signal) -> Array:
    """``w = p``, the choice of Gottesman, Pan and Doshi-Velez."""
    return fraction


def square_root(fraction: Array, signal: Signal) -> Array:
    """``w = √p``, that paper's other choice."""
    return np.sqrt(fraction)


def equal(fraction: Array, signal: Signal) -> Array:
    """``w = 1``: every feature counts the same."""
    return np.ones_like(fraction)


def signal_aware(fraction: Array, signal: Signal) -> Array:
    """Weights that equalise the sampling noise which rotates the signal's subspace.

    In complete data the sampling error of the latent covariance stays within the span of the
    components and does no harm; gaps break that. What harms has variance

        [(1 - p_i p_j) S_ii S_jj + S_ii ψ_j + ψ_i S_jj + ψ_i ψ_j] / (N p_i p_j),

    and the separable weights that equalise it (weighted low-rank approximation with rank-one
    weights, Srebro and Jaakkola 2003) are ``w_d = √(p_d / (ψ_d + (1 - p_d) S_dd))``, scaled to a
    largest weight of one.
    """
    # A feature whose estimated signal is lost in noise still has some.
    variance = np.maximum(signal.variance, 0.05 * (signal.variance + signal.noise))
    with np.errstate(divide="ignore", invalid="ignore"):  # without any variance: none, told later
        weights = np.sqrt(fraction / (signal.noise + (1 - fraction) * variance))
        scaled: Array = weights / weights.max()
    return scaled


def given(weights: Array) -> Weighting:
    """The user's weights."""
    return lambda fraction, signal: weights


WEIGHTINGS: dict[str, Weighting] = {
    "observed": observed,
    "sqrt": square_root,
    "none": equal,
    "signal": signal_aware,
}


def given_weights(estimator: str, value: Any, n_features: int) -> Array:
    """The user's weights, one per feature, if that is what they are."""
    try:
        weights = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != (n_features,) or not ((weights >= LEAST) & (weights <= MOST)).all():
        words = ", ".join(repr(word) for word in sorted(("auto", *WEIGHTINGS))[:-1])
        raise ValueError(
            parameter("feature_weights", f"The 'feature_weights' parameter of {estimator}")
            + f" must be {words} or 'sqrt', or "
            f"{n_features} positive numbers, one a feature, from {LEAST:g} to {MOST:g}. "
            f"Got {value!r} instead."
        )
    return weights


@dataclass(frozen=True, eq=False)
class Whitening:
    """``F`` with ``F' S F = I`` and its way back ``B`` with ``B B' ≈ S``, of rank r.

    From the eigenvectors U and values Λ of the weighted signal ``diag(w) S diag(w)``:
    ``F = diag(w) U Λ^(-1/2)`` and ``B = diag(1/w) U Λ^(1/2)``, so the weights act here and nothing
    after the whitening has to know of them.
    """

    forward: Array  # (d, r)  F
    back: Array  # (d, r)     B
    weights: Array  # (d,)    w
    spectrum: Array  # (≤ d,) eigenvalues of the weighted signal, largest first
    rank: int = field(init=False)  # r, the dimensions that are kept

    def __post_init__(self) -> None:
        object.__setattr__(self, "rank", int(self.forward.shape[1]))

    @property
    def n_supported(self) -> int:
        """How many of the kept eigenvalues are positive, as those of a signal are."""
        return int(np.count_nonzero(self.spectrum[: self.rank] > 0))


def whiten(signal: Array, weights: Array, rank: int, noise: Array | float = 0.0) -> Whitening:
    """Whiten a signal matrix (d, d), with ``noise`` (d,) beside it, to ``rank`` dimensions."""
    values, vectors = np.linalg.eigh(weights[:, None] * signal * weights)
    return whitening_from(values[::-1], vectors[:, ::-1], weights, rank, noise)


def whitening_from(
    values: Array, vectors: Array, weights: Array, rank: int, noise: Array | float = 0.0
) -> Whitening:
    """The whitening that the leading eigenvalues and vectors of the weighted signal give.

    A kept eigenvalue that is not positive has no square root. It is noise, as large as its
    distance from zero, and is given that size, so that its direction is shrunk to the scale of
    noise and not blown up; ``n_supported`` tells. Nor is one blown up that is but what rounding
    leaves of larger ones and of the ``noise`` (d,).
    """
    kept, directions = values[:rank], _fixed_signs(vectors[:, :rank])
    level = max(np.abs(values).max(initial=0.0), np.max(weights**2 * noise, initial=0.0))
    floor = np.finfo(float).eps * max(level, np.finfo(float).tiny)
    size = np.sqrt(np.maximum(np.abs(kept), floor))
    return Whitening(
        forward=weights[:, None] * directions / size,
        back=directions * size / weights[:, None],
        weights=weights,
        spectrum=values,
    )


def _fixed_signs(vectors: Array) -> Array:
    """Columns with their largest entry positive, so that rounding does not choose signs."""
    largest = np.abs(vectors).argmax(axis=0)
    return vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


SPARE = 4
"""Directions carried beyond those that are wanted: they make the last of those converge."""

LANES = 8
"""Directions are a multiple of so many: products with other numbers of them are slower."""

DEEPEST = 16
TOLERANCE = 2e-6
"""Of a residual beside its eigenvalue: eigenvalues are then good to its square."""


class Symmetric(Protocol):
    """A symmetric matrix as an operator."""

    @property
    def shape(self) -> tuple[int, int]:
        """(d, d)."""

    def __matmul__(self, vectors: Array) -> Array:
        """Times vectors (d, m); (d, m)."""


def leading_eigenpairs(matrix: Symmetric, scale: Array, rank: int) -> tuple[Array, Array]:
    """Largest eigenvalues, in order, and vectors (d, m) of ``diag(scale) M diag(scale)``.

    Randomised block Krylov iteration (Musco and Musco 2015): the matrix is multiplied with a few
    vectors at a time, and the best approximation in the span of all products so far is taken, until
    the ``rank`` wanted pairs leave a residual of no matter. More than ``rank`` pairs come back; the
    rest are not converged. The random start is fixed, so the same matrix gives the same answer.
    """
    d = matrix.shape[0]
    width = min(carried(rank), d)
    most = min(DEEPEST * width, d)
    # Vector by vector in memory, so that all there are so far are one piece, and none is copied.
    basis, images = (np.empty((d, most), order="F") for _ in range(2))
    inner = np.empty((most, most))
    random = np.random.default_rng(0)
    block, n = _orthonormal(random.standard_normal((d, width)), basis[:, :0]), 0
    for _ in range(DEEPEST):
        image = scale[:, None] * (matrix @ (scale[:, None] * block))
        new = slice(n, n + block.shape[1])
        basis[:, new], images[:, new] = block, image
        n = new.stop
        held, sent = basis[:, :n], images[:, :n]
        across = held.T @ image
        inner[:n, new], inner[new, :n] = across, across.T
        values, inside = np.linalg.eigh((inner[:n, :n] + inner[:n, :n].T) / 2)
        values, inside = values[::-1], inside[:, ::-1]
        kept = inside[:, :rank]
        residual = np.linalg.norm(sent @ kept - held @ (kept * values[:rank]), axis=0)
        if (residual <= TOLERANCE * np.abs(values[:rank])).all():
            break
        block = _orthonormal(image, held)
        if not block.shape[1]:
            break
    return values[:width], held @ inside[:, :width]


def carried(rank: int) -> int:
    """The number of directions multiplied at a time to find ``rank`` eigenvectors."""
    return -(-(rank + SPARE) // LANES) * LANES


def _orthonormal(vectors: Array, others: Array) -> Array:
    """Orthonormal vectors that span what ``vectors`` (d, m) add to ``others`` (d, n)."""
    length = np.linalg.norm(vectors, axis=0).max(initial=0.0)
    for _ in range(2):  # once leaves rounding behind
        vectors = vectors - others @ (others.T @ vectors)
    q, r = np.linalg.qr(vectors)
    new = np.abs(r.diagonal()) > 1e-10 * length
    room = others.shape[0] - others.shape[1]
    return np.asarray(q[:, new][:, :room])
