"""The contract of a decomposer of small symmetric tensors."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from halfseen.data.arrays import Array
from halfseen.data.compiled import njit


@dataclass(frozen=True, eq=False)
class Decomposition:
    """``G ≈ Σ_k λ_k v_k ⊗ v_k ⊗ v_k`` with unit vectors v_k and λ_k ≥ 0."""

    vectors: Array  # (k, k)  v_k in columns
    values: Array  # (k,)     λ_k
    off_diagonal: float  # fraction of G's square that is off the diagonal of G(V, V, V)

    @classmethod
    def along(cls, tensor: Array, vectors: Array) -> Self:
        """Read the values off ``tensor`` along unit ``vectors``, turned so that they are ≥ 0."""
        rotated = np.einsum("abc,ai,bj,ck->ijk", tensor, vectors, vectors, vectors, optimize=True)
        values = np.einsum("kkk->k", rotated)
        total = float(np.sum(rotated**2))
        rest = 1 - float(np.sum(values**2)) / total if total > 0 else 0.0
        return cls(vectors * np.where(values < 0, -1.0, 1.0), np.abs(values), max(rest, 0.0))


Decomposer = Callable[[Array, np.random.Generator], Decomposition]
"""From a symmetric tensor (k, k, k) to its decomposition; randomness only from the generator."""


def joint(
    tensor: Array, generator: np.random.Generator, tolerance: float = 1e-10, max_sweeps: int = 100
) -> Decomposition:
    """Rotate all slices ``G(:, :, p)`` at once towards diagonal ones, by Jacobi sweeps.

    For the pair (i, j), with ``h = (M_ii - M_jj, M_ij + M_ji)`` over the slices M, the angle that
    maximises the squares on the diagonal is a quarter of the argument of
    ``(h_1·h_1 - h_2·h_2) + 2i h_1·h_2``. All slices together hold all the tensor says, so at equal
    λ the first-order error is 1/√2 of that of deflation.

    References
    ----------
    J.-F. Cardoso, A. Souloumiac (1993), Blind beamforming for non-Gaussian signals.
    """
    vectors = _start(tensor)
    # Both first modes of the symmetric tensor along the vectors, the third as it is.
    slices = np.tensordot(vectors.T, (tensor @ vectors).transpose(0, 2, 1), axes=1)
    _sweep(np.ascontiguousarray(slices), vectors, tolerance, max_sweeps)
    return Decomposition.along(tensor, vectors)


def _start(tensor: Array) -> Array:
    """Eigenvectors of one contraction: on the way already, and not on a saddle by symmetry."""
    direction = 1 / np.sqrt(np.arange(1, len(tensor) + 1))
    vectors: Array = np.linalg.eigh(tensor @ direction)[1]
    return vectors


def _sweep(slices: Array, vectors: Array, tolerance: float, max_sweeps: int) -> None:
    """Rotate pairs of directions in turn until no angle is above ``tolerance``.

    In a call for each direction, so that an interrupt is heard between them.
    """
    for _ in range(max_sweeps):
        largest = 0.0
        for i in range(len(vectors) - 1):
            largest = max(largest, _rotated_with_later(slices, vectors, i))
        if largest < tolerance:
            return


@njit(cache=True)
def _rotated_with_later(
    slices: Array, vectors: Array, i: int
) -> float:  # pragma: no cover - compiled
    """Rotate a direction with each that comes after it; the largest sine of an angle."""
    largest = 0.0
    for j in range(i + 1, len(vectors)):
        angle = _best_angle(slices, i, j)
        _rotate(slices, vectors, i, j, angle)
        largest = max(largest, abs(math.sin(angle)))
    return largest


@njit(cache=True)
def _best_angle(slices: Array, i: int, j: int) -> float:  # pragma: no cover - compiled
    on = off = 0.0
    for c in range(len(slices)):
        difference = slices[i, i, c] - slices[j, j, c]
        cross = slices[i, j, c] + slices[j, i, c]
        on += difference * difference - cross * cross
        off += 2 * difference * cross
    return 0.25 * math.atan2(off, on)


@njit(cache=True)
def _rotate(
    slices: Array, vectors: Array, i: int, j: int, angle: float
) -> None:  # pragma: no cover - compiled
    cos, sin = math.cos(angle), math.sin(angle)
    for a in range(len(slices)):
        for c in range(len(slices)):
            one, other = slices[i, a, c], slices[j, a, c]
            slices[i, a, c], slices[j, a, c] = cos * one + sin * other, cos * other - sin * one
    for a in range(len(slices)):
        for c in range(len(slices)):
            one, other = slices[a, i, c], slices[a, j, c]
            slices[a, i, c], slices[a, j, c] = cos * one + sin * other, cos * other - sin * one
        one, other = vectors[a, i], vectors[a, j]
        vectors[a, i], vectors[a, j] = cos * one + sin * other, cos * other - sin * one


def power(
    tensor: Array, generator: np.random.Generator, n_starts: int = 30, n_iterations: int = 100
) -> Decomposition:
    """Find one component at a time by ``v ← G(·, v, v) / ‖G(·, v, v)‖`` and take it off.

    Each component is the best of ``n_starts`` random starts, iterated again as long.

    References
    ----------
    A. Anandkumar, R. Ge, D. Hsu, S. Kakade, M. Telgarsky (2014), Tensor decompositions for learning
    latent variable models, algorithm 1.
    """
    k = len(tensor)
    rest, vectors = tensor.copy(), np.empty((k, k))
    for component in range(k):
        if np.linalg.norm(rest) <= 1e-12 * np.linalg.norm(tensor):
            return Decomposition.along(tensor, _completed(vectors[:, :component]))
        starts = _iterate(rest, _unit(generator.standard_normal((k, n_starts))), n_iterations)
        heights = np.einsum("abc,as,bs,cs->s", rest, starts, starts, starts, optimize=True)
        best = _iterate(rest, starts[:, [np.argmax(heights)]], n_iterations)[:, 0]
        height = np.einsum("abc,a,b,c", rest, best, best, best)
        rest = rest - height * np.einsum("a,b,c->abc", best, best, best)
        vectors[:, component] = best
    return Decomposition.along(tensor, vectors)


def _iterate(tensor: Array, vectors: Array, n_iterations: int) -> Array:
    """Power iterations of all columns of ``vectors`` (k, s) at once, until none of them moves."""
    k, n = vectors.shape
    flat = tensor.reshape(k, k * k)
    for _ in range(n_iterations):
        squares = (vectors[:, None, :] * vectors[None, :, :]).reshape(k * k, n)
        moved = _unit(flat @ squares)
        if np.abs(moved - vectors).max() < 1e-14:
            return moved
        vectors = moved
    return vectors


def _completed(vectors: Array) -> Array:
    """Vectors (k, m) with directions at right angles to them, for which nothing is left; (k, k)."""
    others = np.linalg.svd(vectors)[0][:, vectors.shape[1] :]
    return np.hstack([vectors, others])


def _unit(vectors: Array) -> Array:
    norms = np.linalg.norm(vectors, axis=0)
    # Nothing left to find: any direction will do, so stay with a fixed one.
    vectors = np.where(norms > 0, vectors, 1.0)
    unit: Array = vectors / np.linalg.norm(vectors, axis=0)
    return unit


def jennrich(
    tensor: Array, generator: np.random.Generator, n_contractions: int = 20
) -> Decomposition:
    """Eigenvectors of ``G(·, ·, x) = Σ_k λ_k (v_k·x) v_k ⊗ v_k`` for a random x.

    Of several x, the one whose eigenvalues are best apart is taken, since close ones mix their
    vectors. Fast, exact without noise, and several times noisier than ``joint`` with it.

    References
    ----------
    R. Harshman (1970), Foundations of the PARAFAC procedure (crediting R. Jennrich).
    """
    k = len(tensor)
    directions = generator.standard_normal((n_contractions, k))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(np.einsum("abc,xc->xab", tensor, directions))
    gaps = np.diff(values, axis=1).min(axis=1, initial=np.inf)
    return Decomposition.along(tensor, vectors[np.argmax(gaps)])


DECOMPOSERS: dict[str, Decomposer] = {"joint": joint, "power": power, "jennrich": jennrich}
