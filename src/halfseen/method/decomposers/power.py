"""The tensor power method, with restarts and deflation."""

import numpy as np

from halfseen.method.decomposers.decomposition import Decomposition
from halfseen.rows.arrays import Array


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
