"""The leading eigenvectors of a large symmetric matrix that only multiplies."""

from typing import Protocol

import numpy as np

from halfseen.rows.arrays import Array

SPARE = 8
"""Directions carried beyond those that are wanted: they make the last of those converge."""

DEEPEST = 16
TOLERANCE = 5e-6
"""Of a residual beside its eigenvalue: eigenvalues are then good to its square."""


class Symmetric(Protocol):
    """A symmetric matrix as far as it multiplies."""

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
    width = min(rank + SPARE, d)
    random = np.random.default_rng(0)
    basis = images = np.empty((d, 0))
    inner = np.empty((0, 0))
    block = _orthonormal(random.standard_normal((d, width)), basis)
    for _ in range(DEEPEST):
        image = scale[:, None] * (matrix @ (scale[:, None] * block))
        across, own = basis.T @ image, block.T @ image
        inner = np.block([[inner, across], [across.T, (own + own.T) / 2]])
        basis, images = np.hstack([basis, block]), np.hstack([images, image])
        values, inside = np.linalg.eigh(inner)
        values, inside = values[::-1], inside[:, ::-1]
        kept = inside[:, :rank]
        residual = np.linalg.norm(images @ kept - basis @ (kept * values[:rank]), axis=0)
        block = _orthonormal(image, basis)
        if (residual <= TOLERANCE * np.abs(values[:rank])).all() or not block.shape[1]:
            break
    return values[:width], basis @ inside[:, :width]


def _orthonormal(vectors: Array, others: Array) -> Array:
    """Orthonormal vectors that span what ``vectors`` (d, m) add to ``others`` (d, n)."""
    length = np.linalg.norm(vectors, axis=0).max(initial=0.0)
    for _ in range(2):  # once leaves rounding behind
        vectors = vectors - others @ (others.T @ vectors)
    q, r = np.linalg.qr(vectors)
    new = np.abs(r.diagonal()) > 1e-10 * length
    room = others.shape[0] - others.shape[1]
    return np.asarray(q[:, new][:, :room])
