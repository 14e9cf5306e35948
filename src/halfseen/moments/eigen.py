"""The leading eigenvectors of a large symmetric matrix that only multiplies."""

from typing import Protocol

import numpy as np

from halfseen.rows.arrays import Array

SPARE = 4
"""Directions carried beyond those that are wanted: they make the last of those converge."""

LANES = 8
"""Directions are a multiple of so many: products with other numbers of them are slower."""

DEEPEST = 16
TOLERANCE = 2e-6
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
    """How many directions are multiplied at a time to find ``rank`` of them."""
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
