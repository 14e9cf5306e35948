"""Orthogonal joint diagonalisation of the tensor's slices."""

import numpy as np

from halfseen.core.arrays import Array
from halfseen.core.decomposition import Decomposition


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
    k = len(tensor)
    vectors = _start(tensor)
    slices = np.einsum("abc,ai,bj->ijc", tensor, vectors, vectors, optimize=True)
    for _ in range(max_sweeps):
        largest = 0.0
        for i in range(k - 1):
            for j in range(i + 1, k):
                angle = _best_angle(slices, i, j)
                _rotate(slices, vectors, i, j, angle)
                largest = max(largest, abs(np.sin(angle)))
        if largest < tolerance:
            break
    return Decomposition.along(tensor, vectors)


def _start(tensor: Array) -> Array:
    """Eigenvectors of one contraction: on the way already, and not on a saddle by symmetry."""
    direction = 1 / np.sqrt(np.arange(1, len(tensor) + 1))
    vectors: Array = np.linalg.eigh(tensor @ direction)[1]
    return vectors


def _best_angle(slices: Array, i: int, j: int) -> float:
    difference = slices[i, i] - slices[j, j]
    cross = slices[i, j] + slices[j, i]
    on = difference @ difference - cross @ cross
    off = 2 * difference @ cross
    return float(0.25 * np.arctan2(off, on))


def _rotate(slices: Array, vectors: Array, i: int, j: int, angle: float) -> None:
    cos, sin = np.cos(angle), np.sin(angle)
    rotation = np.array([[cos, -sin], [sin, cos]])
    pair = [i, j]
    slices[pair] = np.tensordot(rotation.T, slices[pair], axes=1)
    slices[:, pair] = np.einsum("apc,pq->aqc", slices[:, pair], rotation)
    vectors[:, pair] = vectors[:, pair] @ rotation
